package render

import (
	"encoding/binary"
	"encoding/json"
	"errors"
)

// Marks and Lines are encoded as one string of numbers each when workers send them. There are many
// of them, and encoding each value in JSON takes longer than most renders.
type (
	Marks []Mark
	Lines []Line
)

// MarshalJSON returns the compact form.
func (all Marks) MarshalJSON() ([]byte, error) {
	return pack(all, func(to []int, m *Mark) []int {
		variable := 0
		if m.Variable {
			variable = 1
		}
		return append(to, m.Line, m.Column, m.File, m.At, m.AtColumn, variable)
	})
}

// UnmarshalJSON parses the compact form.
func (all *Marks) UnmarshalJSON(text []byte) error {
	return unpack(text, 6, (*[]Mark)(all), func(n []int) Mark {
		return Mark{n[0], n[1], n[2], n[3], n[4], n[5] != 0}
	})
}

// MarshalJSON returns the compact form.
func (all Lines) MarshalJSON() ([]byte, error) {
	return pack(all, func(to []int, l *Line) []int {
		return append(to, l.Template, l.At, l.Values, l.ValuesAt, l.ValuesColumn, l.Item, l.ItemAt, l.ItemColumn, l.Inside, l.InsideAt)
	})
}

// UnmarshalJSON parses the compact form.
func (all *Lines) UnmarshalJSON(text []byte) error {
	return unpack(text, 10, (*[]Line)(all), func(n []int) Line {
		return Line{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]}
	})
}

// pack encodes all rows. numbers appends the numbers of one row.
func pack[T any](all []T, numbers func([]int, *T) []int) ([]byte, error) {
	packed, row := make([]byte, 0, 8*len(all)), []int(nil)
	for i := range all {
		row = numbers(row[:0], &all[i])
		for _, n := range row {
			packed = binary.AppendVarint(packed, int64(n))
		}
	}
	return json.Marshal(packed)
}

// unpack decodes rows of width numbers.
func unpack[T any](text []byte, width int, all *[]T, row func([]int) T) error {
	var packed []byte
	if err := json.Unmarshal(text, &packed); err != nil {
		return err
	}
	*all = nil
	numbers := make([]int, 0, width)
	for len(packed) > 0 {
		n, size := binary.Varint(packed)
		if size <= 0 {
			return errors.New("a place has a number that does not end")
		}
		packed = packed[size:]
		if numbers = append(numbers, int(n)); len(numbers) == width {
			*all = append(*all, row(numbers))
			numbers = numbers[:0]
		}
	}
	if len(numbers) > 0 {
		return errors.New("a place has too few numbers")
	}
	return nil
}
