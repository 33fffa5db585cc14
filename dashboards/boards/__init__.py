"""The dashboards as code. `make dashboards` writes `dashboards/grafana/*.json` from here."""
