// Package bot reviews a pull request: it decides from a file of findings, the diff of the request and the
// conversations that are there already which comments to post, and posts them as one review.
//
// There are two steps. The first one runs the code of a stranger and has no token; it writes the file of findings
// ([File]). The second one is [Review]: it holds the token, runs nothing, and takes the file for hostile. What the
// file says is bounded, checked and escaped before it becomes text of a comment.
//
// [Decide] is pure: it returns a [Decision] for the state of a request. [Review] reads that state from a [Forge],
// carries the decision out, and begins anew from the state where an answer was lost, so that nothing is posted twice.
// [Named] returns the findings with verified patches that the review shows, and [Join] makes one change of them.
//
// A comment carries its findings' ids and the checksum of its patch in an HTML comment ([marker]); nothing else
// remembers anything.
package bot
