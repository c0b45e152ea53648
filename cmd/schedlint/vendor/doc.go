// Package vendor brings what manifests take from other repositories into a folder of this one.
//
// Contract: Run finds out what pointers, kustomizations and charts take from elsewhere, and copies
// it with the user's own helm and git. It makes no connection itself and reads no credentials.
// What is copied may take more from elsewhere, so Run repeats this until nothing is new. Charts
// stay the archives that helm wrote. Of a git commit, Run copies the directories that are named,
// what their kustomizations refer to, and licenses. The lock (package thirdparty) maps addresses to
// copies. A copy that matches the lock is not fetched again. Copies that nothing wants any more are
// removed, unless somebody has changed them.
//
// Invariants: addresses, names and versions come from files that an attacker may have written. They
// are checked before a program gets them. Programs run without a shell and in a temporary
// directory. Nothing is checked out, and nothing outside the folder is written. Archives and files
// are limited. What helm and git print is not trusted either. Each copy is replaced in one step,
// and the lock is written after the copies.
//
// Non-goals: repositories that need a password that helm and git do not have; files at an https
// address and OCI artifacts of manifests, for which Run prints a command.
package vendor
