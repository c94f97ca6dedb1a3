// Package lsp is a language server: it shows the findings of the static checks,
// and those of campaigns, in an editor that has gopls beside it.
//
// It speaks LSP 3.18 over a pair of streams, by the types that go.lsp.dev/protocol
// generates from the specification. One goroutine reads the client's messages in
// their order and keeps the open documents; another one, the worker, analyses
// packages: when a document is opened or saved, one at a time, and until the next
// save of the same module wants something else. The worker owns the modules that
// package resident keeps in memory; it leaves results that the other goroutines
// need in the server, behind a mutex.
//
// A place in a finding is one in the text that was analysed. Before the client sees it,
// it is moved along with the lines around it to where it is in the text that the
// client has, and dropped if its own line is no longer the same ([moves]).
//
// The server says nothing that vet or gopls say, as the checks do not, and does
// nothing in a module that does not load, except to say so once.
package lsp
