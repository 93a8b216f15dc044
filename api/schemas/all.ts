// Every schema that becomes a validator, by the name of its kind; a kind's status is `<Kind>Status`.

import type {TSchema} from 'typebox';
import type {ValidatorName} from '../validators.cjs';
import {clusterConfig, clusterConfigStatus} from './cluster-config.js';
import {configMap, configMapStatus} from './configmap.js';
import {container, handler, probe} from './container.js';
import {deployment, deploymentStatus} from './deployment.js';
import {hpa, hpaStatus} from './hpa.js';
import {job, jobStatus, slurmJob, slurmJobStatus} from './job.js';
import {metadata} from './metadata.js';
import {namespace, namespaceStatus} from './namespace.js';
import {node, nodeStatus} from './node.js';
import {condition, labelSelector, type DefinitionName} from './parts.js';
import {containerStatus, pod, podSpec, podStatus} from './pod.js';
import {priorityClass, priorityClassStatus} from './priority-class.js';
import {replicaSet, replicaSetStatus} from './replicaset.js';
import {secret, secretStatus} from './secret.js';
import {dns, dnsStatus, endpointSlice, endpointSliceStatus, service, serviceStatus} from './service.js';
import {functionSchema, functionStatus, workflow, workflowStatus} from './workflow.js';

export const schemas: Record<ValidatorName, TSchema> = {
	ClusterConfig: clusterConfig(),
	ClusterConfigStatus: clusterConfigStatus(),
	ConfigMap: configMap(),
	ConfigMapStatus: configMapStatus(),
	Deployment: deployment(),
	DeploymentStatus: deploymentStatus(),
	Dns: dns(),
	DnsStatus: dnsStatus(),
	EndpointSlice: endpointSlice(),
	EndpointSliceStatus: endpointSliceStatus(),
	Function: functionSchema(),
	FunctionStatus: functionStatus(),
	HorizontalPodAutoscaler: hpa(),
	HorizontalPodAutoscalerStatus: hpaStatus(),
	Job: job(),
	JobStatus: jobStatus(),
	Namespace: namespace(),
	NamespaceStatus: namespaceStatus(),
	Node: node(),
	NodeStatus: nodeStatus(),
	Pod: pod(),
	PodStatus: podStatus(),
	PriorityClass: priorityClass(),
	PriorityClassStatus: priorityClassStatus(),
	ReplicaSet: replicaSet(),
	ReplicaSetStatus: replicaSetStatus(),
	Secret: secret(),
	SecretStatus: secretStatus(),
	Service: service(),
	ServiceStatus: serviceStatus(),
	SlurmJob: slurmJob(),
	SlurmJobStatus: slurmJobStatus(),
	Workflow: workflow(),
	WorkflowStatus: workflowStatus(),
};

/** Schemas that others refer to by name. */
export const definitions: Record<DefinitionName, TSchema> = {
	Condition: condition(),
	Container: container(),
	ContainerStatus: containerStatus(),
	LabelSelector: labelSelector(),
	LifecycleHandler: handler(),
	Metadata: metadata(),
	PodSpec: podSpec(),
	Probe: probe(),
};
