package driver

import "testing"

func TestUnmix(t *testing.T) {
	const object = "{\n\t\"m/a\": {\n\t\t\"summary\": []\n\t}\n}\n"
	tests := []struct{ name, stdout, stderr, wantOut, wantErr string }{
		{"Go 1.26", object, "", object, ""},
		{"Go 1.25", "", "# m/a\n# [m/a]\n" + object + "# m/b\n" + object, object + object, "# m/a\n# [m/a]\n# m/b\n"},
		{"Go 1.25, one package does not compile", "", "# m/b\nvet: ./b.go:3:1: undefined: x\n# m/a\n" + object, object,
			"# m/b\nvet: ./b.go:3:1: undefined: x\n# m/a\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := unmix(output{[]byte(tt.stdout), []byte(tt.stderr)})
			if string(got.stdout) != tt.wantOut || string(got.stderr) != tt.wantErr {
				t.Errorf("got %q and %q", got.stdout, got.stderr)
			}
		})
	}
}
