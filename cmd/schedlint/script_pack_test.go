package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/schedlint/schedlint/lint/thirdparty"
)

// pack FILE ENTRY... writes a gzipped tar archive. An entry is a directory to add with its
// contents, NAME=TEXT for a file, NAME->TARGET for a symbolic link, NAME+>TARGET for a hard link,
// NAME! for a device, or NAME*N for a file of N zeros. A name may contain Go escapes.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: pack file entry...")
	}
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	for _, arg := range args[1:] {
		packEntry(ts, archive, unescaped(ts, arg))
	}
	ts.Check(archive.Close())
	ts.Check(zipped.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text.Bytes(), 0o644))
}

func packEntry(ts *testscript.TestScript, archive *tar.Writer, entry string) {
	head := tar.Header{Mode: 0o644}
	var text []byte
	for _, form := range []struct {
		sign string
		flag byte
	}{{"->", tar.TypeSymlink}, {"+>", tar.TypeLink}, {"!", tar.TypeChar}, {"*", tar.TypeReg}, {"=", tar.TypeReg}} {
		name, rest, found := strings.Cut(entry, form.sign)
		if !found {
			continue
		}
		head.Name, head.Typeflag = name, form.flag
		switch form.sign {
		case "=":
			text = []byte(rest)
		case "*":
			n, err := strconv.Atoi(rest)
			ts.Check(err)
			text = make([]byte, n)
		default:
			head.Linkname = rest
		}
		head.Size = int64(len(text))
		ts.Check(archive.WriteHeader(&head))
		_, err := archive.Write(text)
		ts.Check(err)
		return
	}
	dir := ts.MkAbs(entry)
	ts.Check(archive.AddFS(os.DirFS(filepath.Dir(dir))))
}

// locked FOLDER NAME=PATH... writes the lock of a folder with copies. Every copy has the version 1.
func locked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: locked folder name=path...")
	}
	folder, err := os.OpenRoot(ts.MkAbs(args[0]))
	ts.Check(err)
	defer folder.Close()
	var entries []thirdparty.Entry
	for _, arg := range args[1:] {
		at := strings.LastIndexByte(arg, '=')
		digest, err := thirdparty.Digest(folder.FS(), arg[at+1:])
		ts.Check(err)
		entries = append(entries, thirdparty.Entry{Name: arg[:at], Path: arg[at+1:], Resolved: "1", SHA256: digest})
	}
	ts.Check(folder.WriteFile(thirdparty.LockName, thirdparty.New(entries).Text(), 0o644))
}
