package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
)

// theSchemas is the version of the files under schema/ that this verifier knows.
const theSchemas = "schemas/1"

// follow checks the openings of the logs after the first (the step `logs`).
func (b *bundle) follow() error {
	host, tenant, epoch, err := logName(b.logs[0])
	if err != nil {
		return err
	}
	if int64(len(b.logs)) != max(1, epoch-1) {
		return errors.New("the manifest has another number of logs")
	}
	for i := 1; i < len(b.logs); i++ {
		if b.logs[i] != fmt.Sprintf("%s/%s/%d", host, tenant, i+1) {
			return fmt.Errorf("%q is out of order", b.logs[i])
		}
	}
	for _, name := range b.names {
		var number int64
		if _, err := fmt.Sscanf(name, "heads/%d.", &number); err == nil && number >= epoch {
			return fmt.Errorf("%s opens no log", name)
		}
	}
	for i := int64(1); i < epoch; i++ {
		c, err := b.checkpointOf(i+1, epoch)
		if err != nil {
			return err
		}
		previous, err := b.opening(i, c)
		if err != nil {
			return fmt.Errorf("heads/%04d: %w", i, err)
		}
		if i == 1 {
			continue
		}
		before, err := b.checkpointOf(i, epoch)
		if err != nil {
			return err
		}
		if !bytes.Equal(before.raw, previous.raw) {
			return fmt.Errorf("the checkpoint of epoch %d is not the one that the next log carries", i)
		}
	}
	return nil
}

// checkpointOf is the checkpoint of the log of an epoch.
func (b *bundle) checkpointOf(epoch, last int64) (checkpoint, error) {
	at := epoch
	if epoch == last {
		at = 1
	}
	c, err := parseCheckpoint(b.files[fmt.Sprintf("checkpoints/%04d.txt", at)])
	if err == nil && c.origin != b.logs[at-1] {
		err = errors.New("a checkpoint of another log")
	}
	return c, err
}

// opening checks heads/NNNN, which opens the log of a checkpoint, and gives the checkpoint that it carries.
func (b *bundle) opening(number int64, c checkpoint) (checkpoint, error) {
	r := b.record(fmt.Sprintf("heads/%04d", number))
	index, err := b.under(fmt.Sprintf("heads/%04d.tlog-proof", number), r.leaf, c)
	if err != nil {
		return checkpoint{}, err
	}
	if r.payload == nil {
		return checkpoint{}, errors.New("no payload")
	}
	if err := r.open(b.forms); err != nil {
		return checkpoint{}, err
	}
	b.heads = append(b.heads, r)
	if r.log != c.origin || r.tenant != b.tenant {
		return checkpoint{}, errors.New("of another log or tenant")
	}
	return openedLog(&r, index, c)
}

// openedLog checks the log.opened at an index of a log under a checkpoint of it, and gives the checkpoint that it
// carries: an empty one where `previous` is null.
func openedLog(r *record, index int64, c checkpoint) (checkpoint, error) {
	host, tenant, epoch, err := logName(r.log)
	if err != nil {
		return checkpoint{}, err
	}
	named, err := r.body.str("log")
	counted, errEpoch := r.body.integer("epoch")
	if err != nil || errEpoch != nil || r.kind != "log.opened" || r.n != 0 || named != r.log || counted != epoch ||
		r.named() != nil || index != 0 || r.policy != "" || r.context != "" {
		return checkpoint{}, errors.New("no opening of its log")
	}
	if err := r.atItsTime(); err != nil {
		return checkpoint{}, err
	}
	text, err := r.body.str("key")
	if err != nil {
		return checkpoint{}, err
	}
	k, err := parseKey(text)
	if err != nil {
		return checkpoint{}, err
	}
	if err := c.signed([]key{k}); err != nil {
		return checkpoint{}, fmt.Errorf("by the key of its opening: %w", err)
	}
	if null, ok := r.body.get("previous"); ok && null.kind == isNull {
		if epoch != 1 {
			return checkpoint{}, errors.New("it carries no checkpoint")
		}
		return checkpoint{}, nil
	}
	previous, err := r.body.str("previous")
	if err != nil {
		return checkpoint{}, err
	}
	carried, err := parseCheckpoint([]byte(previous))
	if err == nil && carried.origin != fmt.Sprintf("%s/%s/%d", host, tenant, epoch-1) {
		err = errors.New("it carries a checkpoint of another log")
	}
	return carried, err
}

// atItsTime refuses a record of its own that was written before it occurred, or at another millisecond than its id.
func (r *record) atItsTime() error {
	recorded, err := time.Parse(time.RFC3339Nano, r.recorded)
	occurred, errOccurred := time.Parse(time.RFC3339Nano, r.occurred)
	if err != nil || errOccurred != nil || recorded.Before(occurred) {
		return errors.New("written before it occurred")
	}
	id := strings.ReplaceAll(r.debate, "-", "")
	if r.v >= 2 && (id[12] != '7' || id[:12] != fmt.Sprintf("%012x", recorded.UnixMilli())) {
		return errors.New("an id of another millisecond than its time")
	}
	return nil
}

// parts refuses files that nothing asks for, and misses those that are due.
func (b *bundle) parts() error {
	if b.later != nil {
		return b.later
	}
	due, err := b.words()
	if err != nil {
		return err
	}
	first := &b.records[0]
	if first.envelope.context != "" {
		due["context.json"], due["context.salt"] = true, true
	}
	if first.policy != "" {
		due["policy.json"] = true
	}
	theCase, _ := first.body.object("case")
	if listed, _ := theCase.get("documents"); len(listed.items) > 0 {
		due["documents/index.json"] = true
		for i := range listed.items {
			due[fmt.Sprintf("documents/%04d.txt", i+1)] = true
		}
	}
	_, _, epoch, err := logName(b.logs[0])
	if err != nil {
		return err
	}
	for i := int64(1); i < epoch; i++ {
		for _, end := range []string{"leaf.json", "payload.json", "salt", "tlog-proof"} {
			due[fmt.Sprintf("heads/%04d.%s", i, end)] = true
		}
	}
	for nth := 1; nth <= b.issuedRecords(); nth++ {
		for _, end := range []string{"leaf.json", "payload.json", "salt", "tlog-proof"} {
			due[fmt.Sprintf("issued/%04d.%s", nth, end)] = true
		}
	}
	if len(b.records) > 2 {
		if first.v > 1 {
			due["configuration.json"], due["prompts/manifest.json"] = true, true
		}
		if held, ok := b.records[2].body.get("approval"); ok && held.kind != isNull {
			due["approval.txt"] = true
		}
	}
	if err := b.whole(due); err != nil {
		return err
	}
	_, err = b.entries()
	return err
}

// words are the files that are there always, by the versions that record 1 names.
func (b *bundle) words() (map[string]bool, error) {
	versions, err := b.records[1].body.object("versions")
	if err != nil {
		return nil, err
	}
	if said, err := versions.str("schemas"); err != nil || said != theSchemas {
		return nil, fmt.Errorf("schemas of version %q: %w", said, errLater)
	}
	due := map[string]bool{"README.txt": true, "report.md": true, "report.html": true}
	for _, name := range []string{"context.v1", "documents.v1", "leaf.v1", "leaf.v2", "manifest.v2"} {
		due["schema/"+name+".json"] = true
	}
	for kind := range kinds {
		due["schema/payload."+kind+".v1.json"] = true
	}
	return due, nil
}

// whole holds the names of files against those that are due.
func (b *bundle) whole(due map[string]bool) error {
	for name := range due {
		if _, ok := b.files[name]; !ok {
			return fmt.Errorf("%s is missing", name)
		}
	}
	old := b.records[0].v == 1
	for _, name := range b.names {
		folder, _, _ := strings.Cut(name, "/")
		known := due[name] || folder == "records" || folder == "proofs" || folder == "checkpoints"
		known = known || folder == "prompts" && len(b.records) > 2 || folder == "times"
		known = known || old && (name == "policy.json" || name == "configuration.json")
		if !known {
			return fmt.Errorf("%s is not asked for", name)
		}
	}
	return nil
}

func (b *bundle) allLines() error {
	var strange error
	for i := range b.logs {
		c, err := parseCheckpoint(b.files[fmt.Sprintf("checkpoints/%04d.txt", i+1)])
		if err != nil {
			return err
		}
		carried := map[string]bool{}
		if i > 0 && i < len(b.heads) {
			previous, _ := b.heads[i].body.str("previous")
			for _, line := range strings.Split(previous, "\n") {
				carried[line] = true
			}
		}
		if err := b.lines(c, carried); errors.Is(err, errLater) {
			strange = err
		} else if err != nil {
			return err
		}
	}
	for _, name := range append(append([]string{}, dated...), stamped...) {
		if _, ok := b.files[name]; !ok {
			continue
		}
		c, err := b.earlier(name)
		if err == nil {
			err = b.lines(c, nil)
		}
		if errors.Is(err, errLater) {
			strange = err
		} else if err != nil {
			return err
		}
	}
	stamps, err := b.stamps()
	if err != nil {
		return err
	}
	for name, s := range stamps {
		if !b.authorities[s.authority] {
			strange = fmt.Errorf("the authority of %s is not pinned: %w", tokenOf(name), errLater)
		}
	}
	for nth := 1; nth <= b.issuedRecords(); nth++ {
		_, c, err := b.issuedUnder(nth)
		if err == nil && c.origin != b.head.origin {
			err = b.lines(c, nil)
		}
		if errors.Is(err, errLater) {
			strange = err
		} else if err != nil {
			return err
		}
	}
	return strange
}

// started is the body of debate.started; ok is false where there was no debate.
func (b *bundle) started() (value, bool, error) {
	if b.later != nil {
		return value{}, false, b.later
	}
	if len(b.records) < 3 {
		return value{}, false, nil
	}
	return b.records[2].body, true, nil
}

// entries are those of the manifest of the prompts; the files under prompts/ are those that they name.
func (b *bundle) entries() ([]value, error) {
	started, ok, err := b.started()
	if !ok {
		return nil, err
	}
	data, there := b.files["prompts/manifest.json"]
	if !there && b.records[0].v == 1 {
		return nil, nil
	}
	if pin, err := started.str("pin"); err != nil || pin != digest(data) {
		return nil, errors.New("a manifest that has not the hash pin")
	}
	m, err := parse(data)
	if err != nil {
		return nil, err
	}
	if format, err := m.str("format"); err != nil || format != "gainsay-prompts/1" {
		return nil, errors.New("another format of the manifest")
	}
	entries, _ := m.get("entries")
	due := map[string]bool{"prompts/manifest.json": true}
	for _, entry := range entries.items {
		name, err := entry.str("file")
		if _, ok := b.files["prompts/"+name]; err != nil || !ok {
			return nil, fmt.Errorf("prompts/%s is missing", name)
		}
		due["prompts/"+name] = true
	}
	for _, name := range b.names {
		if strings.HasPrefix(name, "prompts/") && !due[name] {
			return nil, fmt.Errorf("%s is not asked for", name)
		}
	}
	return entries.items, nil
}

func (b *bundle) prompts() error {
	started, ok, err := b.started()
	if !ok {
		return err
	}
	entries, err := b.entries()
	if err != nil {
		return err
	}
	if entries == nil {
		return fmt.Errorf("no prompts: %w", errLater)
	}
	pins, err := started.object("pins")
	if err != nil {
		return err
	}
	return b.pinned(entries, pins)
}

// pinned holds every prompt against its hash, and the current ones against the pins of record 2.
func (b *bundle) pinned(entries []value, pins value) error {
	current := 0
	for _, entry := range entries {
		id, errID := entry.str("id")
		name, errName := entry.str("file")
		sum, errSum := entry.str("sha256")
		version, errVersion := entry.integer("version")
		if err := errors.Join(errID, errName, errSum, errVersion); err != nil {
			return err
		}
		content, ok := b.files["prompts/"+name]
		if !ok || digest(content) != sum {
			return fmt.Errorf("prompts/%s: another hash, or missing", name)
		}
		if now, _ := entry.get("current"); now.text != "true" || now.kind != isBool {
			continue
		}
		current++
		if pin, err := pins.str(id); err != nil || pin != fmt.Sprintf("v%d:%s", version, sum) {
			return fmt.Errorf("another pin of %s", id)
		}
	}
	if current != len(pins.names) {
		return errors.New("pins that no entry has")
	}
	return nil
}

func (b *bundle) policies() error {
	started, debated, err := b.started()
	if err != nil {
		return err
	}
	data, there := b.files["policy.json"]
	if !there && b.records[0].v == 1 {
		return fmt.Errorf("no policy: %w", errLater)
	}
	decision, err := b.records[1].body.object("decision")
	if err != nil {
		return err
	}
	held := digest(data)
	if said, err := decision.str("policyHash"); err != nil || said != held || b.records[0].v > 1 && b.records[0].policy != held {
		return errors.New("policy.json has not its hash")
	}
	if !debated {
		return nil
	}
	policy, err := parse(data)
	if err != nil {
		return err
	}
	prices, err := pricesOf(policy)
	if err != nil {
		return err
	}
	configuration := b.files["configuration.json"]
	for name, want := range map[string]string{
		"policyHash": held, "priceHash": digest(prices), "configurationHash": digest(configuration),
	} {
		if said, err := started.str(name); err != nil || said != want {
			return fmt.Errorf("another %s", name)
		}
	}
	pin, _ := started.str("pin")
	want := fmt.Sprintf(`{"format":"gainsay-configuration/1","policy":"%s","prices":"%s","prompts":"%s"}`, held, digest(prices), pin)
	if string(configuration) != want {
		return errors.New("configuration.json says something else")
	}
	return nil
}

// pricesOf is the compact JSON that priceHash is of.
func pricesOf(policy value) ([]byte, error) {
	models, err := policy.object("models")
	if err != nil {
		return nil, err
	}
	all := value{kind: isList}
	for _, model := range models.sorted().items {
		prices, ok := model.get("prices")
		if !ok || prices.kind != isList {
			return nil, errors.New("a model without prices")
		}
		all.items = append(all.items, prices)
	}
	return all.compact(), nil
}

func (b *bundle) approval() error {
	started, ok, err := b.started()
	if !ok {
		return err
	}
	held, there := started.get("approval")
	approver, named := started.get("approvedBy")
	if there != named {
		return errors.New("an approval without the name of its approver, or the name without it")
	}
	policy, err := parse(b.files["policy.json"])
	if err != nil {
		return err
	}
	rules, err := policy.object("approval")
	if err != nil {
		return err
	}
	if required, _ := rules.get("required"); !there && required.text == "true" {
		return errors.New("no approval, which the policy requires")
	}
	if !there {
		return nil
	}
	data := b.files["approval.txt"]
	if held.kind != isString || held.text != string(data) {
		return errors.New("approval.txt is not the approval of record 2")
	}
	n, err := parseNote(data)
	if err != nil {
		return err
	}
	configuration, _ := started.str("configurationHash")
	lines := strings.Split(n.text, "\n")
	if len(lines) != 5 || lines[0] != "gainsay-approval/1" || lines[1] != configuration {
		return errors.New("an approval of another configuration")
	}
	if err := moment(lines[3]); err != nil || !wholeSecond.MatchString(lines[3]) {
		return errors.New("an approval without a time")
	}
	return approvedBy(n, rules, approver.text)
}

// approvedBy refuses a note that the approver whom the policy names did not sign.
func approvedBy(n note, rules value, name string) error {
	text, err := rules.str("key")
	if err != nil {
		return err
	}
	k, err := parseKey(text)
	if err != nil {
		return err
	}
	if k.name != name || k.kind != plainType {
		return errors.New("approved by somebody else than the policy names")
	}
	found, err := n.signers([]key{k})
	if err == nil && len(found) == 0 {
		err = errors.New("the approver did not sign")
	}
	return err
}
