/** Names that say how a thing came about, and not what it is (docs/style.md, rule 7). */
const PARTICIPLES: ReadonlySet<string> = new Set(
  `
  Adding Admitted Advancing After Allowed Answered Applied Asked Asking Authored Begun Blocked Bounced
  Bound Building Built Called Camel Carried Changed Changing Checked Chosen Claimed Clocked Closing
  Collected Coming Common Compiling Complained Completed Computed Conditional Connecting Counted Counting
  Created Dated Decided Deciding Declared Delayed Delivered Disabling Done Drawn Due Editing Ended Erasing
  Everything Exercised Expected Extra Failed Failing Filled Finished Folding Followed Following Forwarding
  Found Freezing Further Gathered Given Gone Granted Has Heard Hearing Heeded Held Identified Incoming
  Indexed Invalid Invited Joining Judged Kept Keyed Known Late Later Learned Leaving Left Listed Live
  Living Loaded Looked Lost Made Making Mapped Marked Matched Meant Meanwhile Merged Missed Monotonic Moved
  Named Next Noted Numeric Offered Omitted Once Opened Opening Ordered Other Others Otherwise Outgoing Own
  Owned Parsed Passed Pending Performed Performing Personal Placed Planned Posted Posting Prepared Present
  Put Queued Ran Random Reached Readied Reading Ready Received Receiving Recorded Redelivering Referred
  Refused Relayed Remembered Removed Rendered Rendering Replayed Replaying Replying Reporting Required
  Resolved Resting Restored Returned Rotated Rotating Said Saved Scheduling Scripted Searched Seen
  Selectable Selected Sendable Sending Sent Served Settled Shown Signable Simulated Skipped Sought Spent
  Standing Started Starting Stopped Stopping Stored Storing Submitted Taken Telling Timed Told Tracked
  Tried Typed Unanswered Unavailable Unfit Unheard Unread Until Untouchable Used Verified Waited Waiting
  Wakeable Walked Wanted Warned Watched Where Withheld Woken Writing Written
`
    .trim()
    .split(/\s+/),
);

/** The declaration of a type. `import { type X }` ends with a comma or a brace, and so is none. */
const DECLARATION =
  /^[ \t]*(?:export |default |declare |abstract )*(?:(?:interface|class) ([A-Z]\w*)|type ([A-Z]\w*)(?=\s*[=<]))/gm;

/** The types of a file that are named by one participle or adjective. */
export const participlesOf = (code: string): string[] =>
  [...code.matchAll(DECLARATION)]
    .map(([, shape, alias]) => shape ?? alias ?? '')
    .filter((name) => PARTICIPLES.has(name))
    .map(
      (name) =>
        `names the type "${name}" by a participle or an adjective: give it the name of the thing that it holds`,
    );
