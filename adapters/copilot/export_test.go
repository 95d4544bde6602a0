package copilot

// Refused is what the text of a call that was refused begins with.
const Refused = refused
