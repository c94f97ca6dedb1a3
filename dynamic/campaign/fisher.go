package campaign

import "math"

// table counts runs of one stratum: those that failed and those that passed, with
// a section split in them and without.
type table struct{ failedSplit, failedWhole, passedSplit, passedWhole int }

func (t *table) failed() int { return t.failedSplit + t.failedWhole }
func (t *table) split() int  { return t.failedSplit + t.passedSplit }
func (t *table) runs() int   { return t.failed() + t.passedSplit + t.passedWhole }

// exceedance is the one-sided exact test of Fisher over strata: the probability
// that as many of the failing runs as counted, or more, are split ones if
// splitting and failing have nothing to do with each other. Within a stratum the
// number follows a hypergeometric distribution; the sum over the strata follows
// their convolution.
func exceedance(tables []table) float64 {
	sum, counted := []float64{1}, 0
	for i := range tables {
		counted += tables[i].failedSplit
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
func (t *table) distribution() []float64 {
	most := min(t.failed(), t.split())
	all := make([]float64, most+1)
	for k := max(0, t.failed()+t.split()-t.runs()); k <= most; k++ {
		all[k] = math.Exp(logChoose(t.split(), k) + logChoose(t.runs()-t.split(), t.failed()-k) - logChoose(t.runs(), t.failed()))
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
