package main

import (
	"flag"
	"fmt"
	"github.com/schedlint/schedlint/fixtures/charts"
	"sort"
)

func main() {
	n := flag.Int("cases", 300, "")
	one := flag.Int("case", -1, "")
	flag.Parse()
	if *one >= 0 {
		c := charts.Generate(1, uint64(*one))
		for _, f := range c.Files {
			fmt.Printf("-- %s --\n%s\n", f.Name, f.Data)
		}
		for _, f := range c.Values {
			fmt.Printf("-- %s --\n%s\n", f.Name, f.Data)
		}
		fmt.Println(c.Set, c.SetString)
		a := helm(c)
		for k, v := range a.texts {
			fmt.Printf("== %s\n%s\n", k, v)
		}
		fmt.Println(a.err)
		return
	}
	ok, bad, planned := 0, 0, 0
	errs := map[string]int{}
	feat := map[string]int{}
	for i := range *n {
		c := charts.Generate(1, uint64(i))
		a := helm(c)
		if a.err == nil {
			ok++
			for _, f := range c.Features() {
				feat[f]++
			}
		} else {
			mistake := false
			for _, f := range c.Features() {
				mistake = mistake || f == "mistake"
			}
			if mistake {
				planned++
			} else {
				bad++
				s := a.err.Error()
				if len(s) > 300 {
					s = s[len(s)-300:]
				}
				errs[fmt.Sprint(i, ": ", s)]++
			}
		}
	}
	fmt.Println(ok, bad, planned)
	var ks []string
	for k := range errs {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	for i, k := range ks {
		if i < 40 {
			fmt.Println(k)
		}
	}
	fmt.Println(len(feat))
	ks = nil
	for k, v := range feat {
		ks = append(ks, fmt.Sprintf("%5d %s", v, k))
	}
	sort.Strings(ks)
	fmt.Println(ks)
}
