// Package finding holds the contract that every part of Interlock hands to the next: a concurrency bug with
// both its sides, how far it is proven, by which evidence, and the patch for it.
//
// Static passes make suspected findings, campaigns of monitored runs make confirmed ones, patchgen adds fixes,
// and the report package writes them out. The JSON form is versioned ([SchemaVersion]) and published as
// schema.json beside this file. The package imports the standard library only, and nothing in it is safe for
// concurrent mutation.
package finding
