{{/* The restricted profile of Pod Security, and a root file system that is not written to. */}}
{{- define "gainsay.podSecurity" -}}
runAsNonRoot: true
{{- if .Values.security.assignIds }}
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile:
  {{- toYaml .Values.security.seccompProfile | nindent 2 }}
{{- end -}}

{{- define "gainsay.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* What each pod says, whatever runs in it. */}}
{{- define "gainsay.podBasics" -}}
enableServiceLinks: false
automountServiceAccountToken: false
securityContext:
  {{- include "gainsay.podSecurity" . | nindent 2 }}
{{- with concat .Values.imagePullSecrets (dig "imagePullSecrets" list (.Values.global | default dict)) | uniq }}
imagePullSecrets:
  {{- range . }}
  - name: {{ kindIs "string" . | ternary . (get (kindIs "map" . | ternary . dict) "name") }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "gainsay.container" -}}
image: {{ include "gainsay.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- include "gainsay.containerSecurity" . | nindent 2 }}
{{- end -}}

{{- define "gainsay.migrateContainer" -}}
name: migrate
{{ include "gainsay.container" . }}
args: [migrate]
env:
  - {name: GAINSAY_MIGRATE_URL, value: "file:/etc/gainsay/secrets/migrate-url"}
  - {name: GAINSAY_LOG_FORMAT, value: {{ .Values.settings.logFormat | quote }}}
  {{- if or .Values.ca.configMap .Values.ca.secret }}
  - {name: GAINSAY_CA_FILE, value: /etc/gainsay/ca/ca.crt}
  {{- end }}
resources:
  {{- toYaml .Values.migrations.resources | nindent 2 }}
volumeMounts:
  - {name: migrator, mountPath: /etc/gainsay/secrets, readOnly: true}
  - {name: tmp, mountPath: /tmp}
  {{- if or .Values.ca.configMap .Values.ca.secret }}
  - {name: ca, mountPath: /etc/gainsay/ca, readOnly: true}
  {{- end }}
{{- end -}}

{{- define "gainsay.migrateVolume" -}}
name: migrator
{{ include "gainsay.secretVolume" (list (dict "path" "migrate-url" "of" .Values.database.migrator)) }}
{{- end -}}

{{/* The pod of a process: (dict "root" $ "component" "api"). */}}
{{- define "gainsay.pod" -}}
{{- $root := .root -}}
{{- $v := .root.Values -}}
{{- $own := index $v .component -}}
{{- $database := has .component (list "api" "worker" "sequencer") -}}
{{- $keeps := has .component (list "signer" "witness") -}}
{{- $migrates := eq .component (include "gainsay.migrating" .root) -}}
{{- $ca := and $database (or $v.ca.configMap $v.ca.secret) -}}
metadata:
  labels:
    {{- merge (include "gainsay.selector" . | fromYaml) (deepCopy $own.podLabels) $v.commonLabels | toYaml | nindent 4 }}
  annotations:
    {{- if $database }}
    checksum/config: {{ include "gainsay.read" . | sha256sum }}
    {{- end }}
    kubectl.kubernetes.io/default-container: {{ .component }}
    {{- with $own.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "gainsay.podBasics" $root | nindent 2 }}
  serviceAccountName: {{ include "gainsay.serviceAccount" $root }}
  terminationGracePeriodSeconds: {{ include "gainsay.stopS" . }}
  {{- with $own.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- range $key := list "nodeSelector" "tolerations" "affinity" }}
  {{- with index $own $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- if not $keeps }}
  topologySpreadConstraints:
    {{- if $own.topologySpreadConstraints }}
    {{- toYaml $own.topologySpreadConstraints | nindent 4 }}
    {{- else }}
    {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ $key }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "gainsay.selector" $ | nindent 10 }}
      matchLabelKeys: [pod-template-hash]
    {{- end }}
    {{- end }}
  {{- end }}
  {{- if $migrates }}
  initContainers:
    - {{- include "gainsay.migrateContainer" $root | nindent 6 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      {{- include "gainsay.container" $root | nindent 6 }}
      args:
        {{- include "gainsay.args" . | nindent 8 }}
      env:
        {{- include "gainsay.env" . | nindent 8 }}
      ports:
        - {name: http, containerPort: {{ include "gainsay.port" .component }}, protocol: TCP}
      {{- /* A process opens its port once it is ready to work, so its start may take as long as it waits for PostgreSQL. */}}
      startupProbe:
        httpGet: {path: /livez, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: {{ add 24 (div (ceil $v.settings.waitS | int) 5) }}
      livenessProbe:
        httpGet: {path: /livez, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      {{- /* Often enough for a balancer to learn of a stop within the drain. */}}
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: {{ ternary 1 3 (eq .component "api") }}
      resources:
        {{- toYaml $own.resources | nindent 8 }}
      volumeMounts:
        - {name: secrets, mountPath: /etc/gainsay/secrets, readOnly: true}
        - {name: tmp, mountPath: /tmp}
        - {name: {{ ternary "heads" "data" $keeps }}, mountPath: /var/lib/gainsay}
        {{- if $database }}
        - {name: policy, mountPath: /etc/gainsay/policy, readOnly: true}
        {{- if include "gainsay.approvalMap" $root }}
        - {name: approval, mountPath: /etc/gainsay/approval, readOnly: true}
        {{- end }}
        {{- end }}
        {{- if eq .component "api" }}
        - {name: identity, mountPath: /etc/gainsay/identity, readOnly: true}
        {{- end }}
        {{- if include "gainsay.hasSets" . }}
        - {name: sets, mountPath: /etc/gainsay/sets, readOnly: true}
        {{- end }}
        {{- if $ca }}
        - {name: ca, mountPath: /etc/gainsay/ca, readOnly: true}
        {{- end }}
  volumes:
    - name: secrets
      {{- include "gainsay.secretVolume" (include "gainsay.secrets" . | fromYamlArray) | nindent 6 }}
    - {name: tmp, emptyDir: {}}
    {{- if not $keeps }}
    - {name: data, emptyDir: {}}
    {{- else if $own.heads.existingClaim }}
    - {name: heads, persistentVolumeClaim: {claimName: {{ $own.heads.existingClaim }}}}
    {{- end }}
    {{- if $database }}
    - {name: policy, configMap: {name: {{ include "gainsay.policyMap" $root }}}}
    {{- with include "gainsay.approvalMap" $root }}
    - {name: approval, configMap: {name: {{ . }}, items: [{key: {{ ternary $v.approval.key "approval.txt" (ne $v.approval.existingConfigMap "") | quote }}, path: approval.txt}]}}
    {{- end }}
    {{- end }}
    {{- if eq .component "api" }}
    - {name: identity, configMap: {name: {{ include "gainsay.identityMap" $root }}, items: [{key: {{ ternary $v.identity.key "identity.toml" (ne $v.identity.existingConfigMap "") | quote }}, path: identity.toml}]}}
    {{- end }}
    {{- if include "gainsay.hasSets" . }}
    - {name: sets, persistentVolumeClaim: {claimName: {{ $v.evaluationSets.existingClaim }}, readOnly: true}}
    {{- end }}
    {{- if $migrates }}
    - {{- include "gainsay.migrateVolume" $root | nindent 6 }}
    {{- end }}
    {{- if $ca }}
    - name: ca
      {{- include "gainsay.caVolume" $root | nindent 6 }}
    {{- end }}
{{- end -}}
