{{/* What one process gets. Each takes (dict "root" $ "component" "api"). */}}

{{- define "gainsay.args" -}}
{{- $v := .root.Values -}}
{{- $listen := list "--host" $v.listen "--port" (include "gainsay.port" .component) -}}
{{- $heads := "/var/lib/gainsay/heads" -}}
{{- $args := list -}}
{{- if eq .component "api" -}}
{{- $args = concat (list "serve") $listen (list "--no-worker" "--no-sequencer") -}}
{{- else if eq .component "worker" -}}
{{- $args = concat (list "work") $listen -}}
{{- else if eq .component "sequencer" -}}
{{- $args = concat (list "sequence") $listen -}}
{{- else if eq .component "signer" -}}
{{- $args = concat (list "signer" "--key" "file:/etc/gainsay/secrets/signing-key" "--heads" $heads) $listen -}}
{{- else if eq .component "witness" -}}
{{- $args = concat (list "witness" "--key" "file:/etc/gainsay/secrets/signing-key" "--heads" $heads) $listen -}}
{{- range $v.witness.logKeys }}{{ $args = concat $args (list "--log" .) }}{{ end -}}
{{- end -}}
{{- toYaml $args -}}
{{- end -}}

{{/* The files with secrets of a process: path, secret, key. No process mounts another's. */}}
{{- define "gainsay.secrets" -}}
{{- $v := .root.Values -}}
{{- $found := list -}}
{{- if has .component (list "api" "worker") -}}
{{- $found = append $found (dict "path" "database-url" "of" $v.database.service) -}}
{{- end -}}
{{- if eq .component "api" -}}
{{- $found = append $found (dict "path" "api-url" "of" $v.database.api) -}}
{{- end -}}
{{- if eq .component "sequencer" -}}
{{- $found = append $found (dict "path" "sequencer-url" "of" $v.database.sequencer) -}}
{{- end -}}
{{- if has .component (list "sequencer" "signer") -}}
{{- $found = append $found (dict "path" "signer-token" "of" $v.signing.token) -}}
{{- end -}}
{{- if has .component (list "signer" "witness") -}}
{{- $found = append $found (dict "path" "signing-key" "of" (index $v .component).key) -}}
{{- end -}}
{{- if and $v.webhooks.enabled (has .component (list "api" "worker")) -}}
{{- $found = append $found (dict "path" "webhook-key" "of" $v.webhooks.key) -}}
{{- end -}}
{{- if $v.metrics.token.secret -}}
{{- $found = append $found (dict "path" "metrics-token" "of" $v.metrics.token) -}}
{{- end -}}
{{- if eq .component "worker" -}}
{{- range $v.vendors.keys }}{{ $found = append $found (dict "path" (printf "vendors/%s" .name) "of" .) }}{{ end -}}
{{- end -}}
{{- $component := .component -}}
{{- range $v.secretFiles }}{{ if has $component .processes }}{{ $found = append $found (dict "path" (printf "files/%s" .path) "of" .) }}{{ end }}{{ end -}}
{{- toYaml $found -}}
{{- end -}}

{{/* Whether a process has the golden sets, whose labels say what is right: those that `processes` names, and no other. */}}
{{- define "gainsay.hasSets" -}}
{{- with .root.Values.evaluationSets -}}
{{- if and .folders (has $.component .processes) }}yes{{ end -}}
{{- end -}}
{{- end -}}

{{/* A volume with files of Secrets, which their group alone may read: (list of path and of). */}}
{{- define "gainsay.secretVolume" -}}
projected:
  defaultMode: 0440
  sources:
    {{- range . }}
    - secret:
        name: {{ .of.secret }}
        items: [{key: {{ .of.key | quote }}, path: {{ .path | quote }}}]
    {{- end }}
{{- end -}}

{{- define "gainsay.caVolume" -}}
{{- if .Values.ca.configMap -}}
configMap: {name: {{ .Values.ca.configMap }}, items: [{key: {{ .Values.ca.key | quote }}, path: ca.crt}]}
{{- else -}}
secret: {secretName: {{ .Values.ca.secret }}, defaultMode: 0440, items: [{key: {{ .Values.ca.key | quote }}, path: ca.crt}]}
{{- end -}}
{{- end -}}

{{- define "gainsay.setting" -}}
- name: {{ index . 0 }}
  value: {{ index . 1 | toString | quote }}
{{ end -}}

{{- define "gainsay.env" -}}
{{- $v := .root.Values -}}
{{- $files := "file:/etc/gainsay/secrets/" -}}
{{- $database := has .component (list "api" "worker" "sequencer") -}}
{{ include "gainsay.setting" (list "GAINSAY_LOG_LEVEL" $v.settings.logLevel) }}
{{- include "gainsay.setting" (list "GAINSAY_LOG_FORMAT" $v.settings.logFormat) }}
{{- if $v.metrics.token.secret }}
{{- include "gainsay.setting" (list "GAINSAY_METRICS_TOKEN" (printf "%smetrics-token" $files)) }}
{{- end }}
{{- if $database }}
{{- include "gainsay.setting" (list "GAINSAY_LOG_HOST" $v.logHost) }}
{{- include "gainsay.setting" (list "GAINSAY_POLICY" (printf "/etc/gainsay/policy/%s" (ternary $v.policy.key "policy.toml" (ne $v.policy.existingConfigMap "")))) }}
{{- include "gainsay.setting" (list "GAINSAY_WAIT_S" $v.settings.waitS) }}
{{- if ne $v.prompts.pin "image" }}
{{- include "gainsay.setting" (list "GAINSAY_PROMPTS_PIN" $v.prompts.pin) }}
{{- end }}
{{- if include "gainsay.approvalMap" .root }}
{{- include "gainsay.setting" (list "GAINSAY_APPROVAL" "/etc/gainsay/approval/approval.txt") }}
{{- end }}
{{- if or $v.ca.configMap $v.ca.secret }}
{{- include "gainsay.setting" (list "GAINSAY_CA_FILE" "/etc/gainsay/ca/ca.crt") }}
{{- end }}
{{- with $v.metrics.tenants }}
{{- include "gainsay.setting" (list "GAINSAY_METRICS_TENANTS" (join "," .)) }}
{{- end }}
{{- end }}
{{- if has .component (list "api" "worker") }}
{{- include "gainsay.setting" (list "GAINSAY_DATABASE_URL" (printf "%sdatabase-url" $files)) }}
{{- include "gainsay.setting" (list "GAINSAY_LEASE_S" $v.settings.leaseS) }}
{{- include "gainsay.setting" (list "GAINSAY_GRACE_S" $v.settings.graceS) }}
{{- include "gainsay.setting" (list "GAINSAY_RELOAD_S" $v.settings.reloadS) }}
{{- if $v.webhooks.enabled }}
{{- include "gainsay.setting" (list "GAINSAY_WEBHOOK_KEY" (printf "%swebhook-key" $files)) }}
{{- end }}
{{- end }}
{{- if include "gainsay.hasSets" . }}
{{- $sets := list -}}
{{- range $v.evaluationSets.folders }}{{ $sets = append $sets (regexReplaceAll "^([a-z0-9-]+=)?" . "${1}/etc/gainsay/sets/") }}{{ end }}
{{- include "gainsay.setting" (list "GAINSAY_EVALUATION_SETS" (join "," $sets)) }}
{{- end }}
{{- if eq .component "api" }}
{{- include "gainsay.setting" (list "GAINSAY_API_URL" (printf "%sapi-url" $files)) }}
{{- include "gainsay.setting" (list "GAINSAY_DRAIN_S" $v.settings.drainS) }}
{{- include "gainsay.setting" (list "GAINSAY_IDENTITY" "/etc/gainsay/identity/identity.toml") }}
{{- end }}
{{- if eq .component "sequencer" }}
{{- include "gainsay.setting" (list "GAINSAY_SEQUENCER_URL" (printf "%ssequencer-url" $files)) }}
{{- include "gainsay.setting" (list "GAINSAY_SIGNING_KEY" (include "gainsay.signerUrl" .root)) }}
{{- end }}
{{- if has .component (list "sequencer" "signer") }}
{{- include "gainsay.setting" (list "GAINSAY_SIGNER_TOKEN" (printf "%ssigner-token" $files)) }}
{{- end }}
{{- include "gainsay.otlp" .root }}
{{- with (index $v .component).extraEnv }}
{{- toYaml . }}
{{- end }}
{{- end -}}

{{- define "gainsay.otlp" -}}
{{- with .Values.otlp -}}
{{- if .endpoint }}
- {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
- {name: OTEL_RESOURCE_ATTRIBUTES, value: "k8s.namespace.name=$(POD_NAMESPACE),k8s.pod.name=$(POD_NAME)"}
{{ include "gainsay.setting" (list "OTEL_EXPORTER_OTLP_ENDPOINT" .endpoint) }}
{{- include "gainsay.setting" (list "OTEL_EXPORTER_OTLP_PROTOCOL" .protocol) }}
{{- include "gainsay.setting" (list "OTEL_TRACES_SAMPLER_ARG" .ratio) }}
{{- if .logs }}
{{- include "gainsay.setting" (list "OTEL_LOGS_EXPORTER" "otlp") }}
{{- end }}
{{- if .headers.secret }}
- {name: OTEL_EXPORTER_OTLP_HEADERS, valueFrom: {secretKeyRef: {name: {{ .headers.secret }}, key: {{ .headers.key | quote }}}}}
{{ end }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* Longer than the worker's grace, and than the API's drain and ten seconds for open requests. */}}
{{- define "gainsay.stopS" -}}
{{- $s := .root.Values.settings -}}
{{- if eq .component "api" -}}
{{- add 10 (max (ceil $s.graceS) (add 10 (ceil $s.drainS))) -}}
{{- else if eq .component "worker" -}}
{{- add 10 (ceil $s.graceS) -}}
{{- else -}}
30
{{- end -}}
{{- end -}}
