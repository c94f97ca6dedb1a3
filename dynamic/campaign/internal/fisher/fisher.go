// Package fisher tests by counts of runs whether splitting a section and failing have to do with each other.
package fisher

import "math"

// Table counts runs of one stratum: those that failed and those that passed, with
// a section split in them and without.
type Table struct{ FailedSplit, FailedWhole, PassedSplit, PassedWhole int }

func (t *Table) failed() int { return t.FailedSplit + t.FailedWhole }

// Split counts the runs with the section split in them.
func (t *Table) Split() int { return t.FailedSplit + t.PassedSplit }

// Runs counts all runs.
func (t *Table) Runs() int { return t.failed() + t.PassedSplit + t.PassedWhole }

// Exceedance is the one-sided exact test of Fisher over strata: the probability
// that as many of the failing runs as counted, or more, are split ones if
// splitting and failing have nothing to do with each other. Within a stratum the
// number follows a hypergeometric distribution; the sum over the strata follows
// their convolution.
func Exceedance(tables []Table) float64 {
	sum, counted := []float64{1}, 0
	for i := range tables {
		counted += tables[i].FailedSplit
		sum = convolve(sum, tables[i].distribution())
	}
	p := 0.0
	for _, q := range sum[counted:] {
		p += q
	}
	return min(p, 1)
}

// distribution returns the probability of each number of failing runs that are split,
// from 0, with the margins of t fixed.
func (t *Table) distribution() []float64 {
	most := min(t.failed(), t.Split())
	all := make([]float64, most+1)
	for k := max(0, t.failed()+t.Split()-t.Runs()); k <= most; k++ {
		split, runs, failed := t.Split(), t.Runs(), t.failed()
		all[k] = math.Exp(logChoose(split, k) + logChoose(runs-split, failed-k) - logChoose(runs, failed))
	}
	return all
}

func convolve(a, b []float64) []float64 {
	sum := make([]float64, len(a)+len(b)-1)
	for i, p := range a {
		for j, q := range b {
			sum[i+j] += p * q
		}
	}
	return sum
}

// logChoose is the logarithm of n over k.
func logChoose(n, k int) float64 { return logFactorial(n) - logFactorial(k) - logFactorial(n-k) }

func logFactorial(n int) float64 {
	l, _ := math.Lgamma(float64(n + 1))
	return l
}

// Count adds a run.
func (t *Table) Count(failed, split bool) {
	switch {
	case failed && split:
		t.FailedSplit++
	case failed:
		t.FailedWhole++
	case split:
		t.PassedSplit++
	default:
		t.PassedWhole++
	}
}

// Add adds the runs of another stratum.
func (t *Table) Add(other *Table) {
	t.FailedSplit += other.FailedSplit
	t.FailedWhole += other.FailedWhole
	t.PassedSplit += other.PassedSplit
	t.PassedWhole += other.PassedWhole
}
