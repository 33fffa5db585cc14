{{/* The ConfigMaps of what stands in values. Pods have the checksum of what they read, so a change replaces them. */}}
{{- define "gainsay.config" -}}
{{- $of := dict "root" . "component" "config" -}}
{{- if not .Values.policy.existingConfigMap }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "gainsay.metadata" (merge (dict "name" (include "gainsay.policyMap" .)) $of) | nindent 2 }}
data:
  policy.toml: {{ .Values.policy.toml | quote }}
  {{- range $name, $text := .Values.policy.files }}
  {{ $name }}: {{ $text | quote }}
  {{- end }}
{{- end }}
{{- if and .Values.approval.note (not .Values.approval.existingConfigMap) }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "gainsay.metadata" (merge (dict "name" (include "gainsay.approvalMap" .)) $of) | nindent 2 }}
data:
  approval.txt: {{ .Values.approval.note | quote }}
{{- end }}
{{- if and .Values.api.enabled (not .Values.identity.existingConfigMap) }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "gainsay.metadata" (merge (dict "name" (include "gainsay.identityMap" .)) $of) | nindent 2 }}
data:
  identity.toml: {{ .Values.identity.toml | quote }}
{{- end }}
{{- end -}}

{{/* What a change of replaces the pods of a process. */}}
{{- define "gainsay.read" -}}
{{- $v := .root.Values -}}
{{- $found := list -}}
{{- if or $v.policy.replacePods (eq .component "sequencer") -}}
{{- $found = list $v.policy.toml $v.policy.files $v.policy.existingConfigMap $v.approval -}}
{{- end -}}
{{- if eq .component "api" }}{{ $found = append $found $v.identity }}{{ end -}}
{{- toJson $found -}}
{{- end -}}

{{/* Every fault of the values that a schema cannot say, all at once. */}}
{{- define "gainsay.validate" -}}
{{- $v := .Values -}}
{{- $faults := list -}}
{{- if or $v.api.enabled $v.worker.enabled $v.sequencer.enabled -}}
{{- if not $v.logHost }}{{ $faults = append $faults "logHost: the first part of the name of every log, such as audit.bank.example; it stays for good" }}{{ end -}}
{{- if not $v.prompts.pin }}{{ $faults = append $faults "prompts.pin: the pin that `gainsay prompts list` of the image prints, or `image` to take whatever prompts the image has" }}{{ end -}}
{{- if and (not $v.policy.toml) (not $v.policy.existingConfigMap) }}{{ $faults = append $faults "policy.toml (`--set-file policy.toml=policy.toml`), or policy.existingConfigMap" }}{{ end -}}
{{- end -}}
{{- if and $v.policy.toml $v.policy.existingConfigMap }}{{ $faults = append $faults "only one of policy.toml and policy.existingConfigMap" }}{{ end -}}
{{- if and $v.policy.files $v.policy.existingConfigMap }}{{ $faults = append $faults "policy.files into policy.existingConfigMap itself: it holds all files of the policy" }}{{ end -}}
{{- if hasKey $v.policy.files "policy.toml" }}{{ $faults = append $faults "the policy in policy.toml, and not in policy.files" }}{{ end -}}
{{- if and $v.approval.note $v.approval.existingConfigMap }}{{ $faults = append $faults "only one of approval.note and approval.existingConfigMap" }}{{ end -}}
{{- if and $v.identity.toml $v.identity.existingConfigMap }}{{ $faults = append $faults "only one of identity.toml and identity.existingConfigMap" }}{{ end -}}
{{- if and $v.api.enabled (not $v.identity.toml) (not $v.identity.existingConfigMap) }}{{ $faults = append $faults "identity.toml (`--set-file identity.toml=identity.toml`), or identity.existingConfigMap: without identities the API listens on loopback alone" }}{{ end -}}
{{- if and $v.ca.configMap $v.ca.secret }}{{ $faults = append $faults "only one of ca.configMap and ca.secret" }}{{ end -}}
{{- if and $v.evaluationSets.folders (not $v.evaluationSets.existingClaim) }}{{ $faults = append $faults "evaluationSets.existingClaim: the volume that has evaluationSets.folders" }}{{ end -}}
{{- if and $v.evaluationSets.existingClaim (not $v.evaluationSets.folders) }}{{ $faults = append $faults "evaluationSets.folders: the sets of evaluationSets.existingClaim that evaluations may ask" }}{{ end -}}
{{- if and $v.sequencer.enabled (not $v.signer.enabled) (not $v.signing.signerUrl) }}{{ $faults = append $faults "signing.signerUrl, because signer.enabled is false and the sequencer needs a signer" }}{{ end -}}
{{- if and $v.signer.enabled $v.signing.signerUrl }}{{ $faults = append $faults "only one of signer.enabled and signing.signerUrl" }}{{ end -}}
{{- if and $v.witness.enabled (not $v.witness.logKeys) }}{{ $faults = append $faults "witness.logKeys: the verifier keys of the logs that the witness cosigns" }}{{ end -}}
{{- if and $v.monitoring.serviceMonitor.enabled (not $v.metrics.token.secret) }}{{ $faults = append $faults "metrics.token.secret: without the token no process gives its metrics to another machine" }}{{ end -}}
{{- if and $v.worker.keda.enabled (not $v.worker.keda.prometheus) }}{{ $faults = append $faults "worker.keda.prometheus: the address of the Prometheus that knows the age of the queue" }}{{ end -}}
{{- if and $v.worker.keda.enabled (gt (int $v.worker.keda.minReplicas) (int $v.worker.keda.maxReplicas)) }}{{ $faults = append $faults "worker.keda.maxReplicas not below minReplicas" }}{{ end -}}
{{- if and $v.api.hpa.enabled (gt (int $v.api.hpa.minReplicas) (int $v.api.hpa.maxReplicas)) }}{{ $faults = append $faults "api.hpa.maxReplicas not below minReplicas" }}{{ end -}}
{{- if and $v.prober.enabled (not $v.api.enabled) }}{{ $faults = append $faults "api.enabled, because the prober probes the API of this release" }}{{ end -}}
{{- if and $v.ingress.enabled (not $v.ingress.hosts) }}{{ $faults = append $faults "ingress.hosts" }}{{ end -}}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) }}{{ $faults = append $faults "httpRoute.parentRefs: the Gateway that the route belongs to" }}{{ end -}}
{{- if and (or $v.ingress.enabled $v.httpRoute.enabled) (not $v.api.enabled) }}{{ $faults = append $faults "api.enabled, because an Ingress or HTTPRoute leads to the API" }}{{ end -}}
{{- if $v.networkPolicy.enabled -}}
{{- $e := $v.networkPolicy.egress -}}
{{- if and $v.otlp.endpoint (not $e.otlp) }}{{ $faults = append $faults "networkPolicy.egress.otlp: the way to the collector of otlp.endpoint" }}{{ end -}}
{{- if and $v.webhooks.enabled (not $e.webhooks) }}{{ $faults = append $faults "networkPolicy.egress.webhooks: the way to the receivers of webhooks" }}{{ end -}}
{{- if and $v.signing.signerUrl (not $e.signer) }}{{ $faults = append $faults "networkPolicy.egress.signer: the way to signing.signerUrl" }}{{ end -}}
{{- if and (regexMatch "(?m)^\\s*\\[\\[oidc\\]\\]" $v.identity.toml) (not $e.identity) }}{{ $faults = append $faults "networkPolicy.egress.identity: the way to the keys of the identity provider of identity.toml" }}{{ end -}}
{{- if and (regexMatch "(?m)^\\s*\\[audit\\.timestamps\\]" $v.policy.toml) (not $e.timeStamps) }}{{ $faults = append $faults "networkPolicy.egress.timeStamps: the way to the authority of [audit.timestamps]" }}{{ end -}}
{{- if and (regexMatch "(?m)^\\s*\\[\\[audit\\.witnesses\\]\\]" $v.policy.toml) (not $e.witnesses) (not $v.witness.enabled) }}{{ $faults = append $faults "networkPolicy.egress.witnesses: the way to the witnesses of [[audit.witnesses]]" }}{{ end -}}
{{- end -}}
{{- $scaled := list -}}
{{- if $v.api.hpa.enabled }}{{ $scaled = append $scaled (printf "%s-api" (include "gainsay.fullname" .)) }}{{ end -}}
{{- if $v.worker.keda.enabled }}{{ $scaled = append $scaled (printf "%s-worker" (include "gainsay.fullname" .)) }}{{ end -}}
{{- range $v.extraObjects -}}
{{- range splitList "\n---" (kindIs "string" . | ternary (tpl (toString .) $) (tpl (toYaml .) $)) -}}
{{- $object := fromYaml . -}}
{{- $target := dig "spec" "scaleTargetRef" "name" "" $object -}}
{{- if and (has $object.kind (list "HorizontalPodAutoscaler" "ScaledObject")) (has $target $scaled) }}{{ $faults = append $faults (printf "one scaler alone for %s: extraObjects has a second one (%s)" $target $object.kind) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if $faults }}{{ fail (printf "these values are missing or contradict each other; give\n  - %s\n" (join "\n  - " $faults)) }}{{ end -}}
{{- end -}}
