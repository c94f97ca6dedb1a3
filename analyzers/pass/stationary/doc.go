// Package stationary is the shared pass that finds fields which are written
// only while nobody else can reach their object (Unkel and Lam's stationary
// fields, in the form that the thesis by Li uses for data races): reading them
// cannot race, however the object was published.
//
// A field qualifies if every write is to an object that is fresh there. Several
// writes, in several functions, are fine. Of an unexported field all code that
// names it is in the package and its tests, which is enough, unless other
// packages can copy over its struct as a whole; such fields and exported ones
// are decided once all packages of a program have listed the fields that they write
// ([Fields.Unless], [Fields.Written]). These count as a write to a shared
// object:
//
//   - an assignment, plain or atomic, on an object that may be known to others;
//   - the address of the field taken for anything but a load or a store;
//   - a struct that holds the field copied over another one, as a whole: by
//     assignment, copy, append, or a sort;
//   - its struct handed to package reflect, to decoders, or made into an
//     unsafe.Pointer, or given to a function without a body;
//   - for exported fields, a pointer to the struct in a variable of type any,
//     unless all that is done with it is known to read, by a table of names; and
//     one given to a generic function of another package as *T.
//
// Others can copy over values of exported types, but not if they hold a lock
// or an atomic: vet's copylocks rejects such copies.
//
// Wrongly found stationary: fields written through linkname or assembly that
// gets its pointer elsewhere; exported ones that a decoder gets by an interface
// with methods, converted elsewhere, or a reader that writes. If the object was
// published without synchronisation, readers race with the constructor: the
// monitor watches the variable through which it was published.
//
// Cost: linear in the instructions, with a question to ownership for each store; of types that reflection may reach, a
// bounded number of fields is looked at.
package stationary
