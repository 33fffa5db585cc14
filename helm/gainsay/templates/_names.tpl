{{/* At most 44 characters: with its own ending and a hash, the name of a StatefulSet becomes a label of its pods. */}}
{{- define "gainsay.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 44 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 44 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 44 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What never changes of a component's labels: a selector cannot. (dict "root" $ "component" "api") */}}
{{- define "gainsay.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "gainsay.labels" -}}
{{ include "gainsay.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/part-of: gainsay
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* metadata of an object: (dict "root" $ "component" "api" "name" "..." "annotations" (dict)) */}}
{{- define "gainsay.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- $own := include "gainsay.labels" . | fromYaml }}
  {{- merge (deepCopy (.labels | default dict)) $own | toYaml | nindent 2 }}
{{- with merge (deepCopy (.annotations | default dict)) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "gainsay.image" -}}
{{- $registry := dig "imageRegistry" "" (.Values.global | default dict) -}}
{{- $name := ternary (printf "%s/%s" $registry .Values.image.repository) .Values.image.repository (ne $registry "") -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $name .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "gainsay.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "gainsay.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* The port of a component, as docs/runbook.md has it. */}}
{{- define "gainsay.port" -}}
{{- get (dict "api" "8321" "witness" "8322" "signer" "8323" "sequencer" "8324" "worker" "8325") . -}}
{{- end -}}

{{/* The process in whose pods the migration is an init container: the first of those that run. */}}
{{- define "gainsay.migrating" -}}
{{- if eq .Values.migrations.mode "initContainer" -}}
{{- if .Values.sequencer.enabled -}}sequencer{{- else if .Values.worker.enabled -}}worker{{- else if .Values.api.enabled -}}api{{- end -}}
{{- end -}}
{{- end -}}

{{- define "gainsay.policyMap" -}}
{{- .Values.policy.existingConfigMap | default (printf "%s-policy" (include "gainsay.fullname" .)) -}}
{{- end -}}
{{- define "gainsay.approvalMap" -}}
{{- if .Values.approval.existingConfigMap -}}
{{- .Values.approval.existingConfigMap -}}
{{- else if .Values.approval.note -}}
{{- printf "%s-approval" (include "gainsay.fullname" .) -}}
{{- end -}}
{{- end -}}
{{- define "gainsay.identityMap" -}}
{{- .Values.identity.existingConfigMap | default (printf "%s-identity" (include "gainsay.fullname" .)) -}}
{{- end -}}

{{- define "gainsay.signerUrl" -}}
{{- if .Values.signer.enabled -}}
{{- printf "http://%s-signer:%s" (include "gainsay.fullname" .) (include "gainsay.port" "signer") -}}
{{- else -}}
{{- .Values.signing.signerUrl -}}
{{- end -}}
{{- end -}}
