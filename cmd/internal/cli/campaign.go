package cli

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/upward"
	"github.com/interlock-go/interlock/dynamic/campaign/record"
)

var campaignCommand = command{
	name: "campaign", args: "show|merge|export",
	short: "show, merge and export the records of test -record",
	long: `A campaign is the runs that one call of "interlock test" makes. With -record, test keeps them in a file: each
process, what it has shown, and the findings over time. Started again with the same flags on the same build,
test completes the runs that are missing, after a kill too, or makes further ones that begin with what is
known. What was recorded of another build, or with other flags, stays in the file and is not used.

The file is an SQLite database with the tables campaigns, processes, evidence and findings, and the views
gaps and relations.`,
	examples: [][2]string{
		{"interlock test -record campaign.db ./...", "keep a campaign, complete it, or add runs to it"},
		{"interlock campaign show campaign.db", "what it has"},
		{"interlock campaign merge campaign.db other.db", "add what another machine has shown"},
	},
	options: func() runner { return flagless(func(c *call) int { return c.needsWord("campaign") }) },
}

var campaignShowCommand = command{
	name: "campaign show", args: "[flags] file", short: "print the campaigns of a record, or a report of them",
	long: `Show prints the campaigns of a record in the order in which they began, each with its findings and the run
after which each was known.

With -format or -o, it writes a report of what the last campaign and the earlier ones of the same build and
flags have found together, as test does. Call it in the module's folder, since the report quotes the source.`,
	examples: [][2]string{
		{"interlock campaign show campaign.db", "what it has"},
		{"interlock campaign show -format text campaign.db", "the findings of all its runs"},
		{"interlock campaign show -o html:page.html -o sarif:page.sarif campaign.db", "in other formats"},
	},
	own:     []string{"format", "o"},
	options: func() runner { return new(campaignShowOptions) },
}

type campaignShowOptions struct{ reportFlags }

func (o *campaignShowOptions) declare(fs *flag.FlagSet) {
	o.reportFlags.declare(fs)
	o.format = "" // a list of the campaigns
	fs.Lookup("format").Usage = "print a report in this `format`: " + strings.Join(report.Formats(), ", ")
}

func (o *campaignShowOptions) run(c *call) int {
	r, code := c.openOnly("campaign show")
	if code != exitClean {
		return code
	}
	if err := o.probe(); err != nil {
		return c.usageOf(err)
	}
	all, err := r.Campaigns()
	if err != nil {
		return c.failed(err)
	}
	if o.format == "" {
		if err := c.listCampaigns(all); err != nil {
			return c.failed(err)
		}
	}
	if o.format == "" && len(o.out) == 0 {
		return exitClean
	}
	if len(all) == 0 {
		return c.usage("%s has no campaign to report on", c.packages[0])
	}
	return o.report(c, all)
}

// report writes the report of the last campaign, with the earlier ones of its build and settings.
func (o *campaignShowOptions) report(c *call, all []*record.Campaign) int {
	last := all[len(all)-1]
	root, err := moduleRoot()
	if err != nil {
		return c.failed(err)
	}
	r := c.newReport("campaign show", root, last.Module)
	found := map[string]*finding.Finding{}
	for _, of := range all {
		if of != last && !slices.Contains(last.Earlier, of.ID) {
			continue
		}
		s, err := of.Summary()
		if err != nil {
			return c.failed(err)
		}
		r.Coverage.Runs, r.Coverage.Asked = r.Coverage.Runs+s.Runs, r.Coverage.Asked+of.Runs
		for _, f := range s.Findings {
			found[f.Finding.ID] = f.Finding // what a later campaign says of it counts all runs
		}
	}
	r.Findings = slices.Collect(maps.Values(found))
	c.settle(r)
	if o.format == "" {
		err = o.out.Write(r)
	} else {
		err = c.emit(r, o.reportFlags)
	}
	if err != nil {
		return c.unwritten(err)
	}
	return verdict(r, 0, false)
}

// moduleRoot returns the folder that files of findings are relative to: that of the go.work or go.mod around the
// current one.
func moduleRoot() (string, error) {
	for _, name := range []string{"go.work", "go.mod"} {
		if file, err := upward.Find(".", name); file != "" || err != nil {
			return filepath.Dir(file), err
		}
	}
	return filepath.Abs(".")
}

var campaignMergeCommand = command{
	name: "campaign merge", args: "file from...", short: "add the campaigns of other records to one",
	long: `Merge adds the campaigns of other records, or of what export has printed, to the first file, which is made
if need be. A campaign that is there already does not count twice. Of a file that cannot be read
to its end, nothing is added.`,
	examples: [][2]string{
		{"interlock campaign merge campaign.db linux.db darwin.jsonl", "one record of three"},
	},
	options: func() runner { return flagless(runCampaignMerge) },
}

var campaignExportCommand = command{
	name: "campaign export", args: "file", short: "print a record as JSON Lines",
	long: "Export prints one JSON object a line, each a row of a table; merge reads it again.",
	examples: [][2]string{
		{"interlock campaign export campaign.db >campaign.jsonl", "for other programs"},
	},
	options: func() runner { return flagless(runCampaignExport) },
}

// openOnly opens the record that is the only argument of the command line. It reports the error behind an exit code
// other than exitClean.
func (c *call) openOnly(command string) (*record.Record, int) {
	if len(c.packages) != 1 {
		return nil, c.usage("%s takes one file: `interlock %s campaign.db`", command, command)
	}
	r, err := record.OpenExisting(c.packages[0])
	if err != nil {
		return nil, c.usage("%v", err)
	}
	c.closers = append(c.closers, r)
	return r, exitClean
}

// listCampaigns prints a line for each campaign, and one for each of its findings.
func (c *call) listCampaigns(all []*record.Campaign) error {
	for _, of := range all {
		s, err := of.Summary()
		if err != nil {
			return err
		}
		state := "with runs left"
		if of.Made > 0 {
			state = "finished"
		}
		fmt.Fprintf(c.stdout, "%s  %s  build %.12s  seed %d  %s in %s, %s\n", of.Began.UTC().Format(time.DateTime),
			of.Module, of.Build, of.Seed, finding.OfRuns(s.Runs, of.Runs), processes(s.Processes), state)
		for _, found := range s.Findings {
			f := found.Finding
			line := fmt.Sprintf("    run %d: %s %s: %s [%s]", found.Run, f.Code, f.Status, f.Title, f.ID)
			fmt.Fprintln(c.stdout, report.Clean(line))
		}
	}
	if len(all) == 0 {
		fmt.Fprintln(c.stdout, "no campaign")
	}
	return nil
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

func runCampaignMerge(c *call) int {
	if len(c.packages) < 2 {
		return c.usage("campaign merge takes a file and those to add to it: `interlock campaign merge campaign.db other.db`")
	}
	for _, name := range c.packages[1:] { // before a file is made
		if _, err := os.Stat(name); err != nil {
			return c.usage("campaign merge: %v", err)
		}
	}
	r, err := record.Open(c.packages[0])
	if err != nil {
		return c.usage("%v", err)
	}
	c.closers = append(c.closers, r)
	for _, name := range c.packages[1:] {
		n, err := r.Merge(name)
		if errors.Is(err, record.ErrForeign) {
			return c.usage("%v", err)
		} else if err != nil {
			return c.failed(err)
		}
		fmt.Fprintf(c.stdout, "%s: %s and %s were new\n", name, progress.Count(n.Campaigns, "campaign"),
			processes(n.Processes))
	}
	return exitClean
}

func runCampaignExport(c *call) int {
	r, code := c.openOnly("campaign export")
	if code != exitClean {
		return code
	}
	out := bufio.NewWriter(c.stdout)
	if err := errors.Join(r.Export(out), out.Flush()); err != nil {
		return c.failed(err)
	}
	return exitClean
}
