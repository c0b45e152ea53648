package main

import (
	"github.com/schedlint/schedlint/fixtures/charts"
	ours "github.com/schedlint/schedlint/lint/chart"
)

type traces struct{}

func (t *traces) add(name string, c *charts.Case, res *ours.Result) {}
func (t *traces) print()                                            {}
