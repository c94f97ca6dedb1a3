package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/gitea"
	"github.com/interlock-go/interlock/cmd/internal/bot/github"
	"github.com/interlock-go/interlock/cmd/internal/bot/serve"
)

var botServeCommand = command{
	name: "bot serve", args: "[flags]", short: "receive the webhooks of a host, and review each request",
	long: botLong + `

Serve is for those who host their own Gitea or GitHub. It receives webhooks about pull requests and comments on
them, queues a job for each new head in a file, and does both steps for one job after the other. A webhook needs
a right signature (HMAC), and counts once. The server may be ended at any moment: a job that was begun is done
again, and nothing is posted or pushed twice.

A comment on a request whose first line is "/interlock apply" asks for the patches of the review. If its author
may write to the repository, the verified patches that comments of the bot show are tried together, and pushed onto
the branch as one commit; an answer lists what was applied and what was not. The token has to be able to push, and
on Gitea its user has to be an administrator of the repository, to see who may write to it.

INTERLOCK_TOKEN is the token of the bot's user, INTERLOCK_WEBHOOK_SECRET the secret of the webhooks. The code of
requests runs with neither in its environment, but it runs as this user unless -runner puts it elsewhere: a
command that runs its arguments as another user, or in a container, in the same folder.`,
	examples: [][2]string{
		{"interlock bot serve -forge=gitea -api=https://git.example.com -runner='sudo -n -u runner'", "beside a Gitea"},
	},
	options: func() runner { return new(botServeOptions) },
}

type botServeOptions struct {
	addr    string
	queue   string
	forge   string
	api     string
	runner  string
	timeout time.Duration
}

func (o *botServeOptions) declare(fs *flag.FlagSet) {
	fs.StringVar(&o.addr, "addr", "localhost:8080", "listen at this `address`; TLS is a matter of the proxy before it")
	fs.StringVar(&o.queue, "queue", "interlock-bot.db", "keep the jobs in this `file`")
	fs.StringVar(&o.forge, "forge", "gitea", "post to this `host`: github or gitea")
	refuse(fs, "forge", func() error {
		if !slices.Contains(forges[:2], o.forge) {
			return errors.New("use github or gitea")
		}
		return nil
	})
	fs.StringVar(&o.api, "api", "", "`address` of the server: of GitHub's API, or of Gitea")
	fs.StringVar(&o.runner, "runner", "", "run the code of requests by this `command`, which takes another command as "+
		"its arguments")
	fs.DurationVar(&o.timeout, "timeout", time.Hour, "end the first step of a job after this `time`")
}

func (o *botServeOptions) run(c *call) int {
	token, secret := os.Getenv("INTERLOCK_TOKEN"), os.Getenv("INTERLOCK_WEBHOOK_SECRET")
	if token == "" || secret == "" {
		return c.usage("bot serve needs INTERLOCK_TOKEN and INTERLOCK_WEBHOOK_SECRET in its environment")
	}
	if o.forge == "gitea" && o.api == "" {
		return c.usage("bot serve needs the address of Gitea: add -api, such as -api=https://git.example.com")
	}
	self, err := os.Executable()
	if err != nil {
		return c.failed(err)
	}
	if o.runner == "" {
		c.warn("the code of requests runs as this user, who can read the token: -runner puts it elsewhere")
	}
	// The port first: where it is taken, another server has the queue too.
	l, err := net.Listen("tcp", o.addr)
	if err != nil {
		return c.usage("-addr: %v", err)
	}
	queue, err := serve.Open(c.ctx, o.queue)
	if err != nil {
		l.Close()
		return c.usage("-queue: %v", err)
	}
	c.closers = append(c.closers, queue)
	c.warn(fmt.Sprintf("listening at %s", l.Addr()))
	r := &serve.Reviewer{Queue: queue, Token: token, Timeout: o.timeout, Find: append(strings.Fields(o.runner), self),
		Forge: func(ctx context.Context, repository string, number int) (bot.Forge, error) {
			if o.forge == "gitea" {
				return gitea.New(ctx, o.api, token, repository, number)
			}
			f, err := github.New(githubOptions(o.api, token), repository)
			if err != nil {
				return nil, err
			}
			return f.On(number), nil
		}}
	server := &serve.Server{Queue: queue, Secret: []byte(secret), Work: r.Work, Log: func(s string) { c.warn(s) }}
	if err := server.Serve(c.ctx, l); err != nil {
		return c.failed(err)
	}
	return exitClean
}
