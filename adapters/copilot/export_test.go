package copilot

// Refused is what the text of a call that was refused begins with.
const Refused = refused

// Packages is where the program keeps what it is made of.
var Packages = packages
