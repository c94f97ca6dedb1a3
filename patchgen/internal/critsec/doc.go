// Package critsec puts accesses of a variable into critical sections. A
// [Task] is one function and one lock: the regions under the lock are as
// small as the code allows, and a read and what it decides about lie in one.
package critsec
