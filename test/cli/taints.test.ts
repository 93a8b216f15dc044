import test from 'ava';
import type {Taint} from '../../api/kinds/node.js';
import {changeTaints, contradictions, isTaintWord, parseTaint, type TaintChange} from '../../cli/objects/taints.js';

const changesOf = (...words: readonly string[]): readonly TaintChange[] =>
	words.map(word => {
		const change = parseTaint(word);
		if (typeof change === 'string') throw new Error(change);
		return change;
	});

const gpu: Taint = {key: 'gpu', value: 'yes', effect: 'NoSchedule'};

test('taints are read as kubectl reads them', t => {
	t.deepEqual(changesOf('gpu=yes:NoSchedule', 'a.b/c:NoExecute', 'x=:PreferNoSchedule', 'gpu:NoSchedule-', 'gpu=yes:NoSchedule-', 'gpu-'), [
		{type: 'set', taint: gpu},
		{type: 'set', taint: {key: 'a.b/c', effect: 'NoExecute'}},
		{type: 'set', taint: {key: 'x', effect: 'PreferNoSchedule'}},
		{type: 'remove', key: 'gpu', effect: 'NoSchedule'},
		{type: 'remove', key: 'gpu', effect: 'NoSchedule'},
		{type: 'remove', key: 'gpu', effect: undefined},
	]);
	for (const word of ['gpu', 'gpu=yes', ':NoSchedule', '=x:NoSchedule', 'a:b:c', 'a=b=c:NoSchedule', '-'])
		t.is(typeof parseTaint(word), 'string', word);
	t.regex(JSON.stringify(parseTaint('gpu:noSchedul')), /the effect must be NoSchedule.*; did you mean \\"NoSchedule\\"\?/);
	t.deepEqual(['node-a', 'a=b:NoSchedule', 'a:NoSchedule', 'a-'].map(isTaintWord), [false, true, true, true]);
});

test('what is asked for twice or both ways is told', t => {
	t.deepEqual(contradictions(changesOf('a:NoSchedule', 'b:NoSchedule-')), []);
	t.deepEqual(contradictions(changesOf('a=1:NoSchedule', 'a=2:NoSchedule')), ['a:NoSchedule is given twice']);
	t.deepEqual(contradictions(changesOf('a:NoSchedule', 'a-')), ['a is both set and removed']);
});

test('a taint is set, replaced only when told to, and removed', t => {
	const other: Taint = {key: 'gpu', effect: 'NoExecute'};
	t.deepEqual(changeTaints([], changesOf('gpu=yes:NoSchedule'), false), {ok: true, taints: [gpu], word: 'tainted'});
	t.deepEqual(changeTaints([gpu], changesOf('gpu=yes:NoSchedule'), false), {ok: true, taints: [gpu], word: 'unchanged'});
	t.like(changeTaints([gpu], changesOf('gpu=no:NoSchedule'), false), {ok: false});
	t.deepEqual(changeTaints([gpu, other], changesOf('gpu=no:NoSchedule'), true), {
		ok: true,
		taints: [{...gpu, value: 'no'}, other],
		word: 'modified',
	});
	t.deepEqual(changeTaints([gpu, other], changesOf('gpu:NoSchedule-'), false), {ok: true, taints: [other], word: 'untainted'});
	t.deepEqual(changeTaints([gpu, other], changesOf('gpu-', 'a:NoSchedule'), false), {
		ok: true,
		taints: [{key: 'a', effect: 'NoSchedule'}],
		word: 'modified',
	});
	const missing = changeTaints([gpu], changesOf('gpux-', 'gpu:NoExecute-'), false);
	t.deepEqual(missing, {ok: false, problems: ['taint "gpux" not found; did you mean "gpu"?', 'taint "gpu:NoExecute" not found']});
});
