package message

// termFindings are about texts, fields, terms and labels by themselves.
func termFindings() map[string]wording {
	return map[string]wording{}
}
