package render

import (
	"encoding/binary"
	"encoding/json"
	"errors"
)

// Marks and Lines cross from workers as one text of numbers each: there are very many of
// them, and JSON with a value for each takes longer than most renders.
type (
	Marks []Mark
	Lines []Line
)

// MarshalJSON is the short form.
func (all Marks) MarshalJSON() ([]byte, error) {
	return pack(all, func(to []int, m *Mark) []int {
		variable := 0
		if m.Variable {
			variable = 1
		}
		return append(to, m.Line, m.Column, m.File, m.At, m.AtColumn, variable)
	})
}

// UnmarshalJSON reads the short form.
func (all *Marks) UnmarshalJSON(text []byte) error {
	return unpack(text, 6, (*[]Mark)(all), func(n []int) Mark {
		return Mark{n[0], n[1], n[2], n[3], n[4], n[5] != 0}
	})
}

// MarshalJSON is the short form.
func (all Lines) MarshalJSON() ([]byte, error) {
	return pack(all, func(to []int, l *Line) []int {
		return append(to, l.Template, l.At, l.Values, l.ValuesAt, l.ValuesColumn, l.Item, l.ItemAt, l.ItemColumn, l.Inside, l.InsideAt)
	})
}

// UnmarshalJSON reads the short form.
func (all *Lines) UnmarshalJSON(text []byte) error {
	return unpack(text, 10, (*[]Line)(all), func(n []int) Line {
		return Line{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]}
	})
}

// pack writes the numbers of all rows, which numbers appends, one after the other.
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

// unpack reads rows of so many numbers.
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
