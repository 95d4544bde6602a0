package files

// Failure gives the tests what an error of the filesystem becomes.
var Failure = failure
