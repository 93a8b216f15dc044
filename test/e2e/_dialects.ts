// The workflows of both older dialects as they are written (docs/manifests.md), the functions that they call, and what comes out.

/** Code of the functions by name. */
export const dialectFunctions = {
	addfive: '({x}) => ({x: x + 5})',
	a: '() => ({went: "a"})',
	b: '() => ({went: "b"})',
} as const;

/** Starts one run with `params`. */
export const dialectB = `{"apiVersion": "/api/v1", "kind": "Workflow", "metadata": {"namespace": "default", "name": "print"},
 "startAt": "addFive", "params": {"x": 5},
 "nodes": {"addFive": {"type": "Task", "next": "judge"},
           "judge": {"type": "Choice", "choices": [{"variable": "x", "numericEquals": 10, "next": "a"},
                                                    {"variable": "x", "numericNotEquals": 10, "next": "b"}]},
           "a": {"type": "Task"}, "b": {"type": "Task"}}}`;

/** Starts one run with `entryParams`. */
export const dialectA = `apiVersion: v1
kind: Workflow
metadata: {name: judged}
spec:
  entryParams: '{"x": 1, "y": 2}'
  entryNodeName: node1
  workflowNodes:
    - {name: node1, type: func, funcData: {funcName: addfive, funcNamespace: default, nextNodeName: node2}}
    - {name: node2, type: choice, choiceData: {trueNextNodeName: node3, falseNextNodeName: node4,
       checkType: numGreaterThan, checkVarName: y, compareValue: 0}}
    - {name: node3, type: func, funcData: {funcName: a, funcNamespace: default}}
    - {name: node4, type: func, funcData: {funcName: b, funcNamespace: default}}
`;

/** A message to `asked/WORKFLOW` starts it. */
export const askedByMessage = (workflow: string): object => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Workflow',
	metadata: {name: `asked-${workflow}`},
	spec: {
		triggers: [{name: 'message', topic: `asked/${workflow}`}],
		definition: {
			StartAt: 'Run',
			States: {Run: {Type: 'Task', Resource: `workflow:${workflow}`, InputPath: '$.payload', End: true}},
		},
	},
});

/** What each comes to with each input: those that the manifests have, and others. */
export const dialectCases = [
	{workflow: 'print', input: {x: 5}, output: {x: 10, went: 'a'}, isOwn: true},
	{workflow: 'print', input: {x: 6}, output: {x: 11, went: 'b'}, isOwn: false},
	{workflow: 'judged', input: {x: 1, y: 2}, output: {x: 6, y: 2, went: 'a'}, isOwn: true},
	{workflow: 'judged', input: {x: 1, y: -1}, output: {x: 6, y: -1, went: 'b'}, isOwn: false},
] as const;
