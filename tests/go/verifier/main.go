package main

import (
	"crypto/sha256"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const help = `usage:
  verifier vectors FOLDER
  verifier verify FILE --key VKEY [--witness VKEY] [--tsa CERTIFICATE] [--quorum N] [--schemas FOLDER] [--recompute]

A key may be given again and again. --quorum 0 says that no witness is expected. --schemas is the folder of the JSON
Schemas, from somebody else than whoever gave you the file; without it the members of payloads are not checked.
--recompute decides again as the gate does, and reckons every reservation, charge and balance again.
Exit: 0 every step holds, 1 a step failed, 2 usage, 4 no step failed and one was not checkable.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, complaints io.Writer) int {
	if len(args) == 2 && args[0] == "vectors" {
		return vectors(args[1], out)
	}
	if len(args) >= 2 && args[0] == "verify" {
		t, err := pin(args[2:])
		if err == nil {
			var data []byte
			if data, err = os.ReadFile(args[1]); err == nil {
				return verify(data, t, out)
			}
		}
		fmt.Fprintln(complaints, err)
	}
	fmt.Fprint(complaints, help)
	return exitUsage
}

// pin reads the arguments behind the file.
func pin(args []string) (trust, error) {
	var t trust
	flags := flag.NewFlagSet("verify", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	take := func(list *[]key, of byte) func(string) error {
		return func(text string) error {
			k, err := parseKey(strings.TrimSpace(text))
			if err == nil && k.kind != of {
				err = fmt.Errorf("a key of type %d, not %d", k.kind, of)
			}
			*list = append(*list, k)
			return err
		}
	}
	flags.Func("key", "", take(&t.keys, plainType))
	flags.Func("witness", "", take(&t.witnesses, witnessType))
	flags.Func("tsa", "", func(file string) error {
		data, err := os.ReadFile(file)
		block, _ := pem.Decode(data)
		if err != nil || block == nil {
			return fmt.Errorf("%s has no certificate in PEM", file)
		}
		if t.authorities == nil {
			t.authorities = map[[32]byte]bool{}
		}
		t.authorities[sha256.Sum256(block.Bytes)] = true
		return nil
	})
	flags.IntVar(&t.quorum, "quorum", 1, "")
	flags.BoolVar(&t.recompute, "recompute", false, "")
	flags.Func("schemas", "", func(folder string) (err error) {
		t.forms, err = readSchemas(folder)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return t, err
	}
	if flags.NArg() > 0 || len(t.keys) == 0 || t.quorum < 0 || t.quorum > max(1, names(t.witnesses)) {
		return t, fmt.Errorf("a file, at least one --key, and as many --witness as --quorum says are needed")
	}
	return t, nil
}

// names counts the names of keys: several keys of one witness count once.
func names(keys []key) int {
	found := map[string]bool{}
	for _, k := range keys {
		found[k.name] = true
	}
	return len(found)
}

// verify takes a file for what it is: a bundle begins as a ZIP does, an export as JSON.
func verify(data []byte, t trust, out io.Writer) int {
	if strings.HasPrefix(string(data), "{") {
		e := &export{trust: t, data: data}
		return carry(out, e.steps())
	}
	b := &bundle{trust: t, data: data}
	return carry(out, b.steps())
}
