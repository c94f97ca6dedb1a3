package testproc

import "testing"

func TestFailedByRaces(t *testing.T) {
	race := "--- FAIL: TestA (0.00s)\n    testing.go:1712: race detected during execution of test\n"
	for _, tt := range []struct {
		output string
		want   bool
	}{
		{race + "FAIL\n", true},
		{race + "--- FAIL: TestB (0.00s)\n    b_test.go:3: got 1\nFAIL\n", false},
		{race + "    a_test.go:3: got 1\nFAIL\n", false},
		{"FAIL\n", false},
	} {
		if got := (&Process{Outcome: Failed, Output: []byte(tt.output)}).FailedByRaces(); got != tt.want {
			t.Errorf("%v for %q", got, tt.output)
		}
	}
}
