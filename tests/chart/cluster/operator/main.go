// Command decode reads one object of the Prometheus Operator, as JSON in a file, into the operator's own types. It
// fails for a field that they do not have, and for a value of another type.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)

func decode(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var into any
	switch kind := os.Args[1]; kind {
	case "ServiceMonitor":
		into = &monitoring.ServiceMonitor{}
	case "PrometheusRule":
		into = &monitoring.PrometheusRule{}
	default:
		return fmt.Errorf("no type for %s", kind)
	}
	decoder := json.NewDecoder(file)
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func main() {
	if err := decode(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
