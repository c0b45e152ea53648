package vendored

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// folder reads a folder. Hidden folders are named and not entered.
func (s *Source) folder(name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	w := walker{names: names{}, left: maxUnpacked}
	return w.walk(root.FS(), func(name string, d fs.DirEntry) error {
		hidden := strings.HasPrefix(path.Base(name), ".")
		switch {
		case d.IsDir() && hidden:
			s.Left = append(s.Left, name+"/")
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		e := entry{name: name, kept: Keeps(name)}
		if e.kept {
			if e.text, err = w.read(root.FS(), name); err != nil {
				return err
			}
		}
		s.take(e)
		return nil
	})
}

// walker walks a folder within limits.
type walker struct {
	names names
	count int
	left  int64 // bytes
}

// walk calls with each file and folder. Links and devices are errors.
func (w *walker) walk(folder fs.FS, visit func(name string, d fs.DirEntry) error) error {
	return fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if w.count++; w.count > maxEntries {
			return fmt.Errorf("the folder has more than %d entries; name the folder of the rules alone", maxEntries)
		}
		switch mode := d.Type(); {
		case mode&fs.ModeSymlink != 0:
			return fmt.Errorf("%q: found a symbolic link; expected files and folders only", name)
		case !mode.IsRegular() && !d.IsDir():
			return fmt.Errorf("%q: found a device, a pipe or a socket; expected files and folders only", name)
		}
		return visit(name, d)
	})
}

// read reads a file that counts.
func (w *walker) read(folder fs.FS, name string) ([]byte, error) {
	err := checkName(name)
	if err == nil {
		err = w.names.add(name)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := readFile(file)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	if w.left -= int64(len(text)); w.left < 0 {
		return nil, fmt.Errorf("the files to copy have more than %d MiB", maxUnpacked>>20)
	}
	return text, nil
}
