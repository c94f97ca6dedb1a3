// Package tests has its code in a test.
package tests
