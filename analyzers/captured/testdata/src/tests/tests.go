// Package tests has its code in test files.
package tests
