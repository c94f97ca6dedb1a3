// Package stationary is the shared pass that finds fields which are written
// only while nobody else can reach their object (Unkel and Lam's stationary
// fields, in the form that the thesis by Li uses for data races): reading them
// cannot race, however the object was published.
//
// A field qualifies if it is unexported, so that all code that names it is in
// the package and its tests, and if every write is to an object that is fresh
// there. Several writes, in several functions, are fine. What counts as a
// write to a shared object:
//
//   - an assignment, plain or atomic, on an object that may be known to others;
//   - the address of the field taken for anything but a load or a store;
//   - a struct that holds the field copied over another one, as a whole: by
//     assignment, copy, append, or a sort;
//   - its struct handed to package reflect, to decoders, or made into an
//     unsafe.Pointer, or given to a function without a body.
//
// Types that other packages can copy over as a whole are left out: an exported
// type qualifies only if it holds a lock or an atomic, which vet keeps people
// from copying.
//
// Wrongly found stationary: fields written through linkname or assembly that
// gets its pointer elsewhere. If the object was published without
// synchronisation, readers race with the constructor: the monitor watches the
// variable through which it was published.
package stationary
