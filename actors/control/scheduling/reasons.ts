// Why a pod is unschedulable, in words: node by node where these are few, else summed up.

import {limits} from '../../../api/limits.js';

/** Why the pod fits on none of the nodes, in one line. */
export function reasonText(reasons: readonly (readonly [node: string, why: string])[]): string {
	const total = reasons.length;
	if (total === 0) return 'there is no node yet';
	if (total <= limits.nodesNamed) return `0/${total} nodes fit: ${reasons.map(([node, why]) => `${node}: ${why}`).join('; ')}`;
	const counts = new Map<string, number>();
	for (const [, why] of reasons) counts.set(why, (counts.get(why) ?? 0) + 1);
	// Most first, of equals in the order of their words: the same situation always reads alike.
	const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
	const named = sorted.slice(0, limits.nodesNamed).map(([why, count]) => `${count} ${why}`);
	const rest = sorted.slice(limits.nodesNamed).reduce((sum, [, count]) => sum + count, 0);
	return `0/${total} nodes fit: ${[...named, ...(rest === 0 ? [] : [`${rest} for other reasons`])].join('; ')}`;
}

/** Whether two such lines differ in more than in how many nodes have which reason. */
export const isOtherReason = (a: string, b: string): boolean => a !== b && reasonsIn(a) !== reasonsIn(b);

/** The reasons without their numbers, where they are summed up; node by node each word counts. */
function reasonsIn(text: string): string {
	const [head = '', rest = ''] = text.split(' nodes fit: ');
	if (rest === '' || Number(head.split('/')[1]) <= limits.nodesNamed) return text;
	return rest
		.split('; ')
		.map(part => part.replace(/^\d+ /, ''))
		.sort()
		.join('; ');
}
