// What makes pods shows what it makes them from, each kind in the same form.

import test from 'ava';
import type {ApiObject, JsonObject} from '../../api/object.js';
import type {CronJob} from '../../api/kinds/cronjob.js';
import type {DaemonSet} from '../../api/kinds/daemonset.js';
import type {Deployment} from '../../api/kinds/deployment.js';
import type {Job} from '../../api/kinds/job.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {StatefulSet} from '../../api/kinds/statefulset.js';
import {describeCronJob} from '../../cli/describe/cronjob.js';
import {describeDaemonSet} from '../../cli/describe/daemonset.js';
import {describeDeployment} from '../../cli/describe/deployment.js';
import {describeJob} from '../../cli/describe/job.js';
import {describeReplicaSet} from '../../cli/describe/replicaset.js';
import {describeStatefulSet} from '../../cli/describe/statefulset.js';
import {committed} from '../api/_objects.js';

const nowMs = Date.parse('2026-01-01T00:03:20Z');
const widthOf = (text: string): number => text.length;

const template = (restartPolicy: string): JsonObject => ({
	metadata: {labels: {app: 'web'}, annotations: {team: 'shop'}},
	spec: {
		restartPolicy,
		initContainers: [{name: 'first', image: 'wait:1', command: ['wait']}],
		containers: [
			{
				name: 'main',
				image: 'web:1',
				command: ['web', 'two\nlines'],
				args: ['--fast'],
				ports: [{containerPort: 80}, {containerPort: 53, protocol: 'UDP'}],
				env: [
					{name: 'MODE', value: 'a'},
					{name: 'PASSWORD', valueFrom: {secretKeyRef: {name: 'login', key: 'password'}}},
				],
				envFrom: [{configMapRef: {name: 'settings'}}],
				resources: {limits: {memory: '64Mi'}, requests: {cpu: '50m'}},
				livenessProbe: {tcpSocket: {port: 80}},
				volumeMounts: [{name: 'files', mountPath: '/etc/web'}],
			},
		],
		volumes: [{name: 'files', configMap: {name: 'settings'}}],
		nodeSelector: {disk: 'fast'},
		tolerations: [
			{key: 'gpu', operator: 'Exists', effect: 'NoSchedule'},
			{key: 'lab', value: 'yes'},
			{operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30},
		],
	},
});

const shown = `Pod Template:
  Labels:       app=web
  Annotations:  team=shop
  Init Containers:
   first:
    Image:    wait:1
    Command:  wait
  Containers:
   main:
    Image:             web:1
    Command:           web
                       two
                       lines
    Args:              --fast
    Ports:             80/TCP, 53/UDP
    Limits:            memory: 64Mi
    Requests:          cpu: 50m
    Liveness:          tcp-socket :80 delay=0s timeout=1s period=10s #success=1 #failure=3
    Mounts:            /etc/web from files (ro)
    Environment From:  ConfigMap settings
    Environment:       MODE: a
                       PASSWORD: <set to the key 'password' in secret 'login'>
  Volumes:
    files:  ConfigMap settings
  Node-Selectors:  disk=fast
  Tolerations:     gpu:NoSchedule op=Exists
                   lab=yes
                   :NoExecute op=Exists for 30s
`;

const made = (kind: string, apiVersion: string, spec: JsonObject): ApiObject =>
	committed({apiVersion, kind, metadata: {name: 'web', namespace: 'default'}, spec});

const runsOn = (kind: string): ApiObject => made(kind, 'apps/v1', {selector: {matchLabels: {app: 'web'}}, template: template('Always')});
const jobSpec = {template: template('Never')};

for (const [kind, page] of Object.entries({
	Deployment: describeDeployment(runsOn('Deployment') as Deployment, [], nowMs, widthOf),
	ReplicaSet: describeReplicaSet(runsOn('ReplicaSet') as ReplicaSet, nowMs, widthOf),
	StatefulSet: describeStatefulSet(runsOn('StatefulSet') as StatefulSet, nowMs, widthOf),
	DaemonSet: describeDaemonSet(runsOn('DaemonSet') as DaemonSet, nowMs, widthOf),
	Job: describeJob(made('Job', 'batch/v1', jobSpec) as Job, nowMs, widthOf),
	CronJob: describeCronJob(made('CronJob', 'batch/v1', {schedule: '@daily', jobTemplate: {spec: jobSpec}}) as CronJob, nowMs),
}))
	test(`a ${kind} shows the template of its pods`, t => {
		t.is(page.slice(page.indexOf('Pod Template:'), page.indexOf('Pod Template:') + shown.length), shown);
		t.regex(page.slice(page.indexOf('Pod Template:') + shown.length), /^(Conditions|Last Schedule Time):/);
	});
