package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/interlock-go/interlock/cmd/internal/house"
)

// runHouse prints the tables of the trees that args name, side by side; without
// any, those of the working directory.
func runHouse(_ context.Context, args []string) (held bool, err error) {
	flags := flag.NewFlagSet("lab house", flag.ExitOnError)
	list := flags.Bool("list", false, "also list every place that breaks a rule, and files in a circle, for each tree")
	write := flags.Bool("w", false, "write the figures and the sizes of the rooms into docs/architecture.md, as limits")
	flags.Parse(args)
	dirs := flags.Args()
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	// Trees of older revisions have the same table of rooms.
	var trees []house.Named
	for _, dir := range dirs {
		tree, err := house.Survey(dir)
		if err != nil {
			return false, err
		}
		rows, err := house.ReadRooms(dir)
		if err != nil {
			return false, err
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return false, err
		}
		if *write {
			if err := house.WriteLimits(dir, tree); err != nil {
				return false, err
			}
		}
		trees = append(trees, house.Named{Name: filepath.Base(abs), Dir: dir, Tree: tree, Rows: rows})
	}
	house.Write(os.Stdout, trees...)
	if *list {
		for _, t := range trees {
			fmt.Printf("\n## Rules broken: %s\n", t.Name)
			house.WriteBreaches(os.Stdout, t)
			circles, err := house.Circles(t.Dir, "./...")
			if err != nil {
				return false, err
			}
			fmt.Printf("\nfiles in a circle: %d\n", len(circles))
			for _, c := range circles {
				fmt.Printf("\t%v\n", c)
			}
		}
	}
	return true, nil
}
