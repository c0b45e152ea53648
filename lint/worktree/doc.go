// Package worktree reads and writes files in a checkout. The contents of the checkout are
// controlled by someone else, such as the author of a pull request.
//
// The root of a work tree is a directory that contains an entry named .git. The user of the command
// vouches for the path to the root. Below the root there may be anything that git can store,
// including symbolic links. The package rejects every link below the root, because even a link that
// stays inside the root may lead to .git/hooks. The package opens each directory on a path relative
// to its parent, and checks that it is the directory that was inspected before.
//
// The caller decides whether to trust a path outside all work trees.
package worktree
