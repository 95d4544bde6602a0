// Package ledger keeps the records of runs: their form on disk, their order,
// and which of them are live.
//
// A run's documents, in the store:
//
//	run.json               what the run is: written once, before anything else exists
//	records/00000001.json  one file a record, numbered without gaps
//	notes/<namespace>.*    what that namespace is in the middle of; not fsynced
//
// Records are canonical JSON. A value of 4 KiB or more is not in the record but
// behind it, after a newline, with its size and checksum in the record: a
// resume reads past what it does not decode. A document with an unknown or a missing key, of
// another format, or torn, is a *ports.CorruptError naming its file: never a
// guess. A term's text is in the first record of the run that has it; later
// ones have its digest alone, so that a prompt is stored once.
package ledger
