package report

// The part of SARIF 2.1.0 that is written, section numbers those of the
// standard. A field that may be 0 has no omitempty; an index of -1, which
// checkers refuse, is never written.

type sarifLog struct { // 3.13
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct { // 3.14
	Tool        sarifTool                `json:"tool"`
	Automation  sarifAutomation          `json:"automationDetails"`
	Invocations []sarifInvocation        `json:"invocations"`
	BaseIDs     map[string]sarifArtifact `json:"originalUriBaseIds,omitempty"`
	ColumnKind  string                   `json:"columnKind"`
	Results     []sarifResult            `json:"results"` // never null
}

type sarifTool struct { // 3.18
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct { // 3.19
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct { // 3.49
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Short      sarifText      `json:"shortDescription"`
	Full       sarifText      `json:"fullDescription"`
	Help       sarifHelp      `json:"help"`
	HelpURI    string         `json:"helpUri"`
	Default    sarifDefault   `json:"defaultConfiguration"`
	Properties map[string]any `json:"properties"`
}

type sarifDefault struct { // 3.50
	Level string `json:"level"`
}

type sarifHelp struct { // 3.12
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifAutomation struct { // 3.17
	ID string `json:"id"`
}

type sarifInvocation struct { // 3.20
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct { // 3.58
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct { // 3.27
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Related      []sarifLocation   `json:"relatedLocations,omitempty"`
	CodeFlows    []sarifCodeFlow   `json:"codeFlows,omitempty"`
	Fixes        []sarifFix        `json:"fixes,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Properties   map[string]any    `json:"properties"`
	// BaselineState is "new" or "unchanged"; Suppressions is nil where nobody has accepted a finding.
	BaselineState string              `json:"baselineState,omitempty"`
	Suppressions  *[]sarifSuppression `json:"suppressions,omitempty"`
}

type sarifSuppression struct { // 3.35
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification,omitempty"`
}

type sarifLocation struct { // 3.28
	ID       int            `json:"id,omitempty"` // from 1, of related locations
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	Message  *sarifText     `json:"message,omitempty"`
}

type sarifLogical struct { // 3.33
	Name string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

type sarifPhysical struct { // 3.29
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct { // 3.4
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct { // 3.30; lines and columns from 1, the end column exclusive
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndLine     int `json:"endLine,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

type sarifCodeFlow struct { // 3.36
	ThreadFlows []sarifThreadFlow `json:"threadFlows"`
}

type sarifThreadFlow struct { // 3.37
	ID        string      `json:"id"`
	Message   sarifText   `json:"message"`
	Locations []sarifStep `json:"locations"`
}

type sarifStep struct { // 3.38
	Location   sarifLocation `json:"location"`
	Order      int           `json:"executionOrder"`
	Importance string        `json:"importance"`
}

type sarifFix struct { // 3.55
	Description sarifText     `json:"description"`
	Changes     []sarifChange `json:"artifactChanges"`
}

type sarifChange struct { // 3.56
	Artifact     sarifArtifact      `json:"artifactLocation"`
	Replacements []sarifReplacement `json:"replacements"`
}

type sarifReplacement struct { // 3.57
	Deleted  sarifRegion `json:"deletedRegion"`
	Inserted *sarifText  `json:"insertedContent,omitempty"`
}
