"""The step decorator @track_resources."""
