// Package archtest holds the test of the dependency rule: which package may
// import which, and why.
package archtest
