// Package worktree reads and writes files in a checkout whose contents someone else controls, such
// as the author of a pull request.
//
// The root of a work tree is a directory that contains an entry named .git. The user of the command
// vouches for the path to the root. Below the root there may be anything that git can store,
// including symbolic links. Therefore the package rejects every link below the root, regardless of
// its target. Even a link that stays inside the root may lead to .git/hooks. For each directory on
// a path, the package opens the directory relative to its parent, and checks that it is the one
// that was inspected before.
//
// The caller decides whether to trust a path outside every work tree.
package worktree
