package cli

const botLong = `The bot reviews pull requests: it posts concurrency bugs that a request brings in and that runs have
shown, each with its interleaving, a command that shows it again, and a patch that was built and tested.

There are two steps with a file in between. Find runs the code of the request, and needs no token.
Review holds the token, and runs nothing: it takes the file for hostile.`

var botCommand = command{
	name: "bot", args: "find|try|review|serve [flags]",
	short: "review a pull request: post what runs have shown, with patches",
	long: botLong + `

Each has its own help: "interlock help bot review".`,
	examples: [][2]string{
		{"interlock bot find -base=origin/main -o=findings.json ./...", "first step: compare HEAD with main"},
		{"interlock bot review -findings=findings.json", "second step, in GitHub or Gitea Actions"},
	},
	options: func() runner { return flagless(runBot) },
}

func runBot(c *call) int { return c.needsWord("bot") }
