// A Deployment with an autoscaler, and a load that its ready pods share, as they would share the requests of a Service.

import {chmodSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {Deployment} from '../../../api/kinds/deployment.js';
import type {Hpa, HpaSpec} from '../../../api/kinds/horizontalpodautoscaler.js';
import type {Json} from '../../../api/object.js';
import type {Client} from '../../../cli/client.js';
import {temporaryFolder} from './cluster.js';
import {pause} from '../../harness/pause.js';
import type {Scope} from '../../harness/scope.js';

export type Autoscaled = {
	/** So much of processors shall be used by all of them together, in thousandths of one. */
	readonly load: (millis: number) => void;
	readonly look: () => Promise<Look>;
};

export type Look = {
	/** Wanted by the autoscaler. */
	readonly wanted: number;
	readonly ready: number;
	/** In percent of what they request; undefined: it is not known. */
	readonly utilization: number | undefined;
};

export const requestMillis = 50;

/** Uses so much of a processor as the file says, in slices of a tenth of a second; where others want it, too, it takes longer and no less. */
const program = `
	const {readFileSync} = require('node:fs');
	const usedMs = since => { const {user, system} = process.cpuUsage(since); return (user + system) / 1000; };
	setInterval(() => {
		const ms = Number(readFileSync(process.env.LOAD, 'utf8')) / 10;
		const [since, until] = [process.cpuUsage(), performance.now() + 95];
		while (usedMs(since) < ms && performance.now() < until);
	}, 100);`;

const name = 'loaded';
const apps = '/apis/apps/v1/namespaces/default/deployments';
const autoscaling = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
const shareMs = 100;

/** Makes both; the load is shared until the scope ends. */
export async function startAutoscaled(scope: Scope, client: Client, spec: Partial<HpaSpec>): Promise<Autoscaled> {
	const folder = temporaryFolder(scope, 'load');
	chmodSync(folder, 0o755);
	const file = path.join(folder, 'millis');
	writeFileSync(file, '0', {mode: 0o644});
	const container: Json = {
		name: 'main',
		image: 'node',
		command: ['node', '-e', program],
		env: [{name: 'LOAD', value: file}],
		resources: {requests: {cpu: `${requestMillis}m`, memory: '32Mi'}},
	};
	const pod: Json = {runtimeClassName: 'process', terminationGracePeriodSeconds: 1, containers: [container]};
	const labels = {app: name};
	await client.json({
		method: 'POST',
		path: apps,
		body: {
			apiVersion: 'apps/v1',
			kind: 'Deployment',
			metadata: {name},
			spec: {replicas: 1, selector: {matchLabels: labels}, template: {metadata: {labels}, spec: pod}},
		},
	});
	const scaleTargetRef = {apiVersion: 'apps/v1', kind: 'Deployment', name};
	await client.json({
		method: 'POST',
		path: autoscaling,
		body: {apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: {name}, spec: {...spec, scaleTargetRef} as Json},
	});
	let total = 0;
	const look = async (): Promise<Look> => {
		const [deployment, hpa] = await Promise.all([
			client.json({path: `${apps}/${name}`}) as Promise<Deployment>,
			client.json({path: `${autoscaling}/${name}`}) as Promise<Hpa>,
		]);
		return {
			wanted: deployment.spec?.replicas ?? 0,
			ready: deployment.status?.readyReplicas ?? 0,
			utilization: hpa.status?.currentMetrics?.[0]?.resource?.current.averageUtilization,
		};
	};
	const share = async (): Promise<void> => {
		while (!scope.isClosing()) {
			const {ready} = await look();
			writeFileSync(file, String(Math.min(900, total / Math.max(1, ready))));
			await pause(shareMs);
		}
	};
	const sharing = share().catch(() => undefined);
	scope.defer(async () => sharing);
	return {load: millis => void (total = millis), look};
}
