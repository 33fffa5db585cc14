{{/* One debate, followed to its proof, as the tenant of the prober. */}}
{{- define "gainsay.proberSpec" -}}
{{- $p := .Values.prober -}}
{{- $args := list "probe" "--server" (printf "http://%s-api:%v" (include "gainsay.fullname" .) .Values.api.service.port) "--within" (toString $p.withinS) -}}
{{- range $p.keys }}{{ $args = concat $args (list "--key" .) }}{{ end -}}
{{- range $p.witnesses }}{{ $args = concat $args (list "--witness" .) }}{{ end -}}
{{ include "gainsay.podBasics" . }}
serviceAccountName: {{ include "gainsay.serviceAccount" . }}
restartPolicy: Never
containers:
  - name: probe
    {{- include "gainsay.container" . | nindent 4 }}
    args:
      {{- toYaml $args | nindent 6 }}
    env:
      - {name: GAINSAY_TOKEN, value: "file:/etc/gainsay/secrets/token"}
    resources:
      requests: {cpu: 100m, memory: 128Mi}
      limits: {memory: 256Mi}
    volumeMounts:
      - {name: secrets, mountPath: /etc/gainsay/secrets, readOnly: true}
      - {name: tmp, mountPath: /tmp}
volumes:
  - name: secrets
    {{- include "gainsay.secretVolume" (list (dict "path" "token" "of" $p.token)) | nindent 4 }}
  - {name: tmp, emptyDir: {}}
{{- end -}}
