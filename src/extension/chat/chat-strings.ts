import * as l10n from '@vscode/l10n';
import type { ChatStringKey } from '../../protocol/chat-strings.ts';

type Texts = Readonly<Partial<Record<ChatStringKey, string>>>;

/** Every text of the chat webview in the language of the editor. */
export function chatStrings(): Readonly<Record<ChatStringKey, string>> {
  return { ...headerTexts(), ...logTexts(), ...gatesTexts(), ...composerTexts(), ...emptyTexts() };
}

function headerTexts() {
  return {
    newSession: l10n.t('New Session'),
    stop: l10n.t('Stop'),
    stopping: l10n.t('Stopping…'),
    untitled: l10n.t('Untitled session'),
    rehearsal: l10n.t('Rehearsal'),
    rehearsalTooltip: l10n.t(
      'The built-in rehearsal follows your script with real tools. It is not an AI model.',
    ),
    activityNone: l10n.t('No session'),
    activityStarting: l10n.t('Starting'),
    activityIdle: l10n.t('Ready'),
    activityRunning: l10n.t('Working'),
    activityWaiting: l10n.t('Needs you'),
    activityStopping: l10n.t('Stopping'),
    activityOffline: l10n.t('Not running'),
    activityUntrusted: l10n.t('Restricted'),
    activityNoFolder: l10n.t('No folder'),
    usage: l10n.t('Context: {0} of {1} tokens ({2}%)'),
    usageCost: l10n.t('Context: {0} of {1} tokens ({2}%), cost {3}'),
  } satisfies Texts;
}

function logTexts() {
  return {
    logLabel: l10n.t('Conversation'),
    jumpToLatest: l10n.t('Jump to Latest'),
    loadOlder: l10n.t('Load Older Messages'),
    loadingOlder: l10n.t('Loading older messages…'),
    you: l10n.t('You'),
    agent: l10n.t('Agent'),
    thought: l10n.t('Thought'),
    thinking: l10n.t('Thinking…'),
    plan: l10n.t('Plan'),
    planProgress: l10n.t('{0} of {1} done'),
    planPending: l10n.t('To do'),
    planInProgress: l10n.t('In progress'),
    planCompleted: l10n.t('Done'),
    toolPending: l10n.t('Pending'),
    toolInProgress: l10n.t('Running'),
    toolCompleted: l10n.t('Done'),
    toolFailed: l10n.t('Failed'),
    toolCancelled: l10n.t('Cancelled'),
    toolDenied: l10n.t('Denied'),
    toolOutcomeUnknown: l10n.t('Outcome unknown'),
    toolInput: l10n.t('Input'),
    toolOutput: l10n.t('Output'),
    toolOutputLines: l10n.t('Output, {0} lines'),
    toolOutputOne: l10n.t('Output, 1 line'),
    toolLocations: l10n.t('Files'),
    outputCut: l10n.t('{0} characters before this are left out.'),
    showAllOutput: l10n.t('Show All'),
    openDiff: l10n.t('Open in Diff Editor'),
    openDiffOf: l10n.t('Open {0} in Diff Editor'),
    diffAdded: l10n.t('{0} lines added'),
    diffAddedOne: l10n.t('1 line added'),
    diffRemoved: l10n.t('{0} lines removed'),
    diffRemovedOne: l10n.t('1 line removed'),
    diffNewFile: l10n.t('new file'),
    diffCut: l10n.t('The rest of this change is in the diff editor.'),
    copyCode: l10n.t('Copy'),
    copied: l10n.t('Copied'),
    codeBlock: l10n.t('Code: {0}'),
    imageOf: l10n.t('Image: {0}'),
    severityInfo: l10n.t('Information'),
    severityWarning: l10n.t('Warning'),
    severityError: l10n.t('Error'),
    turnDone: l10n.t('Finished'),
    turnStopped: l10n.t('Stopped by you'),
    turnBudget: l10n.t('Ended by a limit: {0}'),
    turnRefused: l10n.t('The model refused: {0}'),
    turnError: l10n.t('Failed: {0}'),
    turnInterrupted: l10n.t('Interrupted: {0}'),
    turnEndedOther: l10n.t('Ended: {0}'),
    turnSeconds: l10n.t('{0} s'),
    turnMinutes: l10n.t('{0} min {1} s'),
    retry: l10n.t('Retry'),
    announceReply: l10n.t('{0} — {1}'),
    announceGate: l10n.t('Needs your answer: {0}'),
  } satisfies Texts;
}

function gatesTexts() {
  return {
    gatesLabel: l10n.t('Waiting for your answer'),
    gatesCount: l10n.t('{0} of {1}'),
    gatePermission: l10n.t('Permission'),
    gateAsk: l10n.t('Question'),
    gateAuth: l10n.t('Sign-in'),
    gateAlways: l10n.t('Always allow…'),
    gateReason: l10n.t('Why: {0}'),
    gateShortcut: l10n.t('{0} (Alt+{1})'),
    gateSubmit: l10n.t('Answer'),
    gateDecline: l10n.t('Decline'),
    gateSignIn: l10n.t('Open Sign-in Page'),
    gateSignedIn: l10n.t('Continue'),
    gateSetKey: l10n.t('Enter API Key'),
    gateCancel: l10n.t('Cancel'),
    gateSending: l10n.t('Sending your answer…'),
    fieldRequired: l10n.t('This field is required.'),
    fieldChoose: l10n.t('Choose…'),
    fieldNumber: l10n.t('Enter a number.'),
    fieldInteger: l10n.t('Enter a whole number.'),
    fieldMin: l10n.t('Enter {0} or more.'),
    fieldMax: l10n.t('Enter {0} or less.'),
    fieldMinLength: l10n.t('Enter at least {0} characters.'),
    fieldMaxLength: l10n.t('Enter at most {0} characters.'),
    fieldPattern: l10n.t('This does not have the expected form: {0}'),
    fieldFormat: l10n.t('This is not a valid {0}.'),
    fieldMinItems: l10n.t('Choose at least {0}.'),
    fieldMaxItems: l10n.t('Choose at most {0}.'),
  } satisfies Texts;
}

function composerTexts() {
  return {
    composerLabel: l10n.t('Message'),
    placeholderNone: l10n.t('What should be done? Enter starts a session'),
    placeholderIdle: l10n.t('What should be done? Enter sends, @ adds context, / lists commands'),
    placeholderRunning: l10n.t('Working. Enter queues this as the next prompt'),
    placeholderWaiting: l10n.t(
      'Waiting for your answer above. Enter queues this as the next prompt',
    ),
    placeholderStarting: l10n.t('Starting. You can already type'),
    placeholderOffline: l10n.t('The agent is not running. Your text is kept'),
    placeholderUntrusted: l10n.t('Trust this folder to start a session'),
    placeholderNoFolder: l10n.t('Open a folder to start a session'),
    send: l10n.t('Send'),
    sendQueued: l10n.t('Queue as Next Prompt'),
    sending: l10n.t('Sending…'),
    sendFailed: l10n.t('Not sent: {0}'),
    queuedLabel: l10n.t('Queued prompts'),
    queuedHint: l10n.t('Next'),
    attachmentsLabel: l10n.t('Attached context'),
    removeAttachment: l10n.t('Remove {0}'),
    openAttachment: l10n.t('Open {0}'),
    imageTooLarge: l10n.t('{0} is larger than {1} MB and was not added. Add a smaller image.'),
    imageTooMany: l10n.t('A message holds at most {0} images.'),
    imageUnsupported: l10n.t('{0} is not a PNG, JPEG, GIF or WebP image and was not added.'),
    mentionAdd: l10n.t('Add Context'),
    completionsLabel: l10n.t('Files and context'),
    completionsEmpty: l10n.t('Nothing matches'),
    completionsLoading: l10n.t('Searching…'),
    completionsCount: l10n.t('{0} results'),
    completionsOne: l10n.t('1 result'),
    commandsLabel: l10n.t('Commands'),
    commandsEmpty: l10n.t('No such command'),
    kindFile: l10n.t('File'),
    kindFolder: l10n.t('Folder'),
    kindSelection: l10n.t('Selection'),
    kindDiagnostics: l10n.t('Problems'),
    kindImage: l10n.t('Image'),
    optionsLabel: l10n.t('Session options'),
    optionNextTurn: l10n.t('{0} (from the next turn)'),
    optionsNextTurn: l10n.t('Applies from the next turn'),
  } satisfies Texts;
}

function emptyTexts() {
  return {
    emptyNoneTitle: l10n.t('No session yet'),
    emptyNoneBody: l10n.t(
      'Type what should be done and press Enter, or choose New Session. The agent works in your folder and asks before it changes anything.',
    ),
    emptySessionTitle: l10n.t('What should be done?'),
    emptySessionBody: l10n.t(
      'Type @ to add files, folders, the selection or problems. You can stop at any time.',
    ),
    emptyRehearsalBody: l10n.t(
      'This session uses the built-in rehearsal: it needs no network and is not an AI model. It reads your message as a script, one step a line, and runs the real tools.',
    ),
    emptyRehearsalInsert: l10n.t('Insert an Example Script'),
    emptyRehearsalScript: l10n.t(
      'plan: Look around; Write a note; Check it\nlist .\nwrite hello.txt: Hello from the rehearsal\nread hello.txt\nfinish with The note is in hello.txt.',
    ),
    emptyUntrustedTitle: l10n.t('This folder is not trusted'),
    emptyUntrustedBody: l10n.t('In Restricted Mode no agent is started and no tool runs.'),
    emptyUntrustedAction: l10n.t('Manage Trust'),
    emptyNoFolderTitle: l10n.t('No folder is open'),
    emptyNoFolderBody: l10n.t('A session works in a folder.'),
    emptyNoFolderAction: l10n.t('Open Folder'),
    emptyOfflineTitle: l10n.t('The agent is not running'),
    emptyOfflineBody: l10n.t('It stopped without saying why. The log may tell more.'),
    emptyOfflineRestart: l10n.t('Restart'),
    emptyOfflineLog: l10n.t('Show Log'),
    emptyStartingTitle: l10n.t('Starting the agent…'),
    emptyStartingBody: l10n.t('This takes a moment.'),
  } satisfies Texts;
}
