package main

func public(string, bool) bool { return false }
