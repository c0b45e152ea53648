// Package worktree reads and writes files of a checkout whose contents somebody
// else chose, such as the author of a pull request.
//
// The root of a work tree is a directory with an entry .git. Whoever runs the
// command vouches for the way to the root; what lies below it may be anything that
// git can store, symbolic links above all. So no component below the root may be
// one, wherever it leads: a link that stays inside may still lead to .git/hooks.
// The way is walked directory by directory, each opened in the one above it, and
// what was opened has to be what was looked at.
//
// The package does not judge names that lead outside of every work tree: who
// passes such a name decides whether it is trusted.
package worktree
