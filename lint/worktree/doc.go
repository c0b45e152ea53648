// Package worktree reads and writes files of a checkout whose contents someone else controls,
// such as the author of a pull request.
//
// The root of a work tree is a directory with an entry .git. The user of the command vouches
// for the path to the root. Anything below it may be whatever git can store, symbolic links in
// particular. So no component below the root may be a link, wherever it leads: even a link that
// stays inside may lead to .git/hooks. The path is walked directory by directory, each opened
// relative to its parent, and the opened directory must be the one that was inspected.
//
// The package does not judge names that lead outside every work tree: the caller decides
// whether such a name is trusted.
package worktree
