"""What an operator loads beside the service: dashboards for Grafana, and rules for Prometheus."""
