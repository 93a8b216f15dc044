// `node build/bench/draw-autoscale.js FILE.svg`: runs an autoscaler under a load that rises and falls, and draws what was measured: the load, and the
// pods that were ready.

import {writeFileSync} from 'node:fs';
import {createScope} from './harness/scope.js';
import {pause} from './harness/pause.js';
import {requestMillis, startAutoscaled} from './rigs/cluster/autoscaled.js';
import {startCluster, temporaryHome} from './rigs/cluster/cluster.js';

const targetPercent = 50;
/** Thousandths of a processor, and for how many seconds. */
const course: readonly (readonly [millis: number, seconds: number])[] = [
	[10, 15],
	[60, 25],
	[140, 35],
	[75, 35],
	[10, 45],
];
const sampleMs = 500;

type Sample = {readonly atMs: number; readonly loadMillis: number; readonly ready: number};

async function measure(): Promise<readonly Sample[]> {
	const scope = createScope();
	try {
		const {client} = await startCluster(scope, temporaryHome(scope), {flags: ['--runtime=process']});
		const {load, look} = await startAutoscaled(scope, client, {
			minReplicas: 1,
			maxReplicas: 8,
			metrics: [{type: 'Resource', resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization: targetPercent}}}],
			behavior: {scaleDown: {stabilizationWindowSeconds: 15}},
		});
		while ((await look()).utilization === undefined) await pause(sampleMs);
		const samples: Sample[] = [];
		const begunAt = performance.now();
		let endsMs = 0;
		for (const [loadMillis, seconds] of course) {
			load(loadMillis);
			endsMs += seconds * 1_000;
			for (let atMs = performance.now() - begunAt; atMs < endsMs; atMs = performance.now() - begunAt) {
				samples.push({atMs, loadMillis, ready: (await look()).ready});
				await pause(sampleMs);
			}
		}
		return samples;
	} finally {
		await scope.close();
	}
}

const size = {width: 760, height: 300, left: 46, right: 16, top: 40, bottom: 40} as const;

/** Two lines of steps over the seconds: pods that are ready, and how many the load needs for each to have what it should. */
function drawn(samples: readonly Sample[]): string {
	const lastMs = samples.at(-1)?.atMs ?? 1;
	const needed = ({loadMillis}: Sample): number => (loadMillis * 100) / requestMillis / targetPercent;
	const most = Math.ceil(Math.max(...samples.flatMap(sample => [needed(sample), sample.ready]))) + 1;
	const x = (ms: number): number => size.left + (ms / lastMs) * (size.width - size.left - size.right);
	const y = (pods: number): number => size.height - size.bottom - (pods / most) * (size.height - size.top - size.bottom);
	const steps = (of: (sample: Sample) => number): string =>
		samples
			.map(
				(sample, i) =>
					`${i === 0 ? 'M' : `H${x(sample.atMs).toFixed(1)} V`}${i === 0 ? `${x(0).toFixed(1)} ` : ''}${y(of(sample)).toFixed(1)}`,
			)
			.join(' ');
	const rows = Array.from({length: most + 1}, (_, pods) => pods);
	const columns = Array.from({length: Math.floor(lastMs / 15_000) + 1}, (_, i) => i * 15);
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="sans-serif" font-size="12" role="img" aria-label="Pods that are ready, and pods that the load needs, over time">
<rect width="${size.width}" height="${size.height}" fill="#fff"/>
${rows.map(pods => `<path d="M${size.left} ${y(pods).toFixed(1)}H${size.width - size.right}" stroke="#e4e4e4"/><text x="${size.left - 8}" y="${(y(pods) + 4).toFixed(1)}" text-anchor="end" fill="#555">${pods}</text>`).join('\n')}
${columns.map(seconds => `<text x="${x(seconds * 1_000).toFixed(1)}" y="${size.height - size.bottom + 18}" text-anchor="middle" fill="#555">${seconds} s</text>`).join('\n')}
<path d="${steps(needed)}" fill="none" stroke="#c05c1a" stroke-width="2" stroke-dasharray="5 4"/>
<path d="${steps(({ready}) => ready)}" fill="none" stroke="#1a5fb4" stroke-width="2.5"/>
<text x="${size.left}" y="22" fill="#1a5fb4">pods that are ready</text>
<text x="${size.left + 150}" y="22" fill="#c05c1a">what the load comes to, in pods that use ${targetPercent} % of their request</text>
</svg>
`;
}

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: node build/bench/draw-autoscale.js FILE.svg');
writeFileSync(file, drawn(await measure()));
